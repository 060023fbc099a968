#include "runtime/observe/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "runtime/base/text.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::observe {
namespace {

// A pipe that stands for stderr.
class LogTest : public testing::Test {
 protected:
  LogTest() {
    EXPECT_EQ(pipe(ends_), 0);
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~LogTest() override {
    std::string rest;  // what a test left in the ring belongs to no other
    do {
      FlushLogs(ends_[1], 0);
      rest = Read();
    } while (!rest.empty());
    close(ends_[0]);
    close(ends_[1]);
    SetLogLevel(Level::kInfo);
  }

  std::string Read() {
    std::string text;
    char part[4096];
    for (ssize_t n; (n = read(ends_[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
    return text;
  }
  std::string Written() {
    DrainLogs(ends_[1]);
    return Read();
  }

  int ends_[2];
};

std::string AfterTime(const std::string& line) { return line.substr(line.find("\"level\"")); }

TEST_F(LogTest, ALineIsOneObjectWithTimeLevelMessageAndFields) {
  Log(Level::kWarning, "slow", {{"path", "/a/b"}, {"data_id", UINT64_MAX}, {"us", INT64_MIN}, {"status", 200}});
  const std::string line = Written();
  EXPECT_EQ(AfterTime(line),
            "\"level\":\"warning\",\"message\":\"slow\",\"path\":\"/a/b\",\"data_id\":18446744073709551615,\"us\":-9223372036854775808,"
            "\"status\":200}\n");
  // {"time":"2026-01-02T03:04:05.678Z",
  EXPECT_EQ(line.substr(0, 9), "{\"time\":\"");
  EXPECT_EQ(line.substr(19, 1) + line.substr(28, 1) + line.substr(32, 1), "T.Z") << line;
}

TEST_F(LogTest, TextsFromOutsideAreEscaped) {
  Log(Level::kError, "m", {{"t", std::string_view("\"\\\n\x01\0\xff\xc3\xa9", 8)}});
  EXPECT_EQ(AfterTime(Written()), "\"level\":\"error\",\"message\":\"m\",\"t\":\"\\\"\\\\\\n\\u0001\\u0000\xef\xbf\xbd\xc3\xa9\"}\n");
}

TEST_F(LogTest, LinesAboveTheLevelAreNotWritten) {
  Log(Level::kDebug, "no");
  EXPECT_EQ(Written(), "");
  SetLogLevel(Level::kDebug);
  Log(Level::kDebug, "yes");
  EXPECT_NE(Written().find("yes"), std::string::npos);
  SetLogLevel(Level::kError);
  Log(Level::kWarning, "no");
  EXPECT_EQ(Written(), "");
}

TEST_F(LogTest, NoTextIsSoLongThatItsLineIsLost) {
  const uint64_t before = DroppedLogLines();
  for (const std::string& unit :
       {std::string("x"), std::string("\t"), std::string("\""), std::string("\xff"), std::string("\xf0\x9f\x98\x80")}) {
    std::string text;
    for (uint64_t i = 0; i < kMaxLineBytes; ++i) text += unit;
    for (const size_t texts : {0, 1, 3}) {
      const std::string_view field = texts >= 1 ? std::string_view(text) : "short", more = texts >= 3 ? std::string_view(text) : "short";
      Log(Level::kWarning, texts == 0 ? text : "m",
          {{"path", field}, {"code", INT64_MIN}, {"reason", more}, {"id", UINT64_MAX}, {"log_id", more}});
      const std::string line = Written();
      ASSERT_FALSE(line.empty()) << unit << texts;
      EXPECT_LE(line.size(), kMaxLineBytes);
      EXPECT_GT(line.size(), kMaxLineBytes / 4);
      EXPECT_TRUE(base::IsUtf8(line));
      EXPECT_NE(line.find("\"code\":-9223372036854775808,"), std::string::npos) << line;
      EXPECT_NE(line.find("\"id\":18446744073709551615,"), std::string::npos) << line;
      EXPECT_EQ(line.substr(line.size() - 3), "\"}\n");
    }
  }
  EXPECT_EQ(DroppedLogLines(), before);
}

TEST_F(LogTest, AReaderThatHasStoppedStopsNobodyAndLosesNoPartOfALine) {
  fcntl(ends_[1], F_SETPIPE_SZ, 4096);
  const uint64_t before = DroppedLogLines();
  const std::string text(500, 'x');
  constexpr int kLines = 4 * kRingBytes / 660;
  for (int i = 0; i < kLines; ++i) {
    Log(Level::kInfo, text, {{"i", i}});
    DrainLogs(ends_[1]);  // would wait here for ever if it waited for the reader
  }
  const uint64_t dropped = DroppedLogLines() - before;
  EXPECT_GT(dropped, 0u);
  EXPECT_LT(dropped, static_cast<uint64_t>(kLines));
  std::string all, part;
  while (!(part = Written()).empty()) all += part;
  uint64_t lines = 0;
  for (size_t at = 0; at < all.size(); ++lines) {
    const size_t end = all.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    ASSERT_EQ(all.substr(at, 9), "{\"time\":\"");
    ASSERT_EQ(all[end - 1], '}');
    at = end + 1;
  }
  EXPECT_EQ(lines, kLines - dropped + 1);  // and the line that tells of the others
  EXPECT_NE(all.find("\"count\":" + std::to_string(dropped) + "}"), std::string::npos);
}

struct CountingWaker final : base::Waker {
  void Wake() noexcept override { ++wakes; }
  int wakes = 0;
};

TEST_F(LogTest, AFillingRingWakesTheDrainOnce) {
  CountingWaker waker;
  SetLogWaker(&waker);
  const std::string text(500, 'x');
  const auto fill = [&text](uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += text.size()) Log(Level::kInfo, text);
  };
  fill(kRingBytes / 8);
  EXPECT_EQ(waker.wakes, 0);
  fill(kRingBytes / 2);
  EXPECT_EQ(waker.wakes, 1);
  fcntl(ends_[1], F_SETPIPE_SZ, 4096);  // a reader who has stopped: nobody is woken again for nothing
  EXPECT_EQ(DrainLogs(ends_[1]), Drained::kSome);
  EXPECT_EQ(DrainLogs(ends_[1]), Drained::kNothing);
  fill(kRingBytes);
  EXPECT_EQ(waker.wakes, 1);
  while (!Written().empty()) {
  }
  EXPECT_EQ(DrainLogs(ends_[1]), Drained::kAll);
  fill(kRingBytes);
  EXPECT_EQ(waker.wakes, 2);
  SetLogWaker(nullptr);
}

int64_t ResidentBytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST_F(LogTest, LinesThatAreDrainedLeaveTheRestOfTheRingUntouched) {
  const std::string text(1000, 'a');
  const int nowhere = open("/dev/null", O_WRONLY);
  int64_t grown = 0;
  std::thread([&] {
    int64_t before = 0;
    for (uint64_t bytes = 0; bytes < 4 * kRingBytes; bytes += text.size()) {
      Log(Level::kInfo, "line", {{"text", text}});
      EXPECT_EQ(DrainLogs(nowhere), Drained::kAll);
      if (before == 0) before = ResidentBytes();
    }
    grown = ResidentBytes() - before;
  }).join();
  close(nowhere);
  EXPECT_LT(grown, static_cast<int64_t>(kRingBytes / 4));
}

// Around the end of the buffer, too: lines that wait while others come and go.
TEST_F(LogTest, LinesAreWholeWhereverTheRingBeganAnew) {
  const std::string text(700, 'b');
  uint64_t put = 0;
  const std::string line_end = text + "\"}\n";
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i <= round; ++i) Log(Level::kInfo, "line", {{"n", put++}, {"text", text}});
    const std::string written = Written();
    EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), round + 1);
    EXPECT_TRUE(written.ends_with("\"n\":" + std::to_string(put - 1) + ",\"text\":\"" + line_end)) << round;
  }
}

TEST_F(LogTest, LinesOfSeveralThreadsComeInTheOrderOfTheirTimes) {
  for (int i = 0; i < 3; ++i) {
    std::thread([i] { Log(Level::kInfo, "of a thread", {{"i", i}}); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  const std::string text = Written();
  const size_t first = text.find("\"i\":0"), second = text.find("\"i\":1"), third = text.find("\"i\":2");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST_F(LogTest, AThreadThatIsPreparedNeedsNoMemoryForItsFirstLine) {
  const std::function<bool()> always = [] { return true; };
  for (const bool prepared : {true, false}) {
    std::thread([&] {
      if (prepared) PrepareLog();
      const test::FailingAllocations failing(&always);
      Log(Level::kError, "the process is out of memory");
    }).join();
    FlushLogs(ends_[1], 0);
    EXPECT_EQ(Read().find("the process is out of memory") != std::string::npos, prepared);
  }
}

TEST_F(LogTest, AReaderThatIsGoneLosesTheLinesAndNothingElse) {
  int gone[2];
  ASSERT_EQ(pipe(gone), 0);
  close(gone[0]);
  signal(SIGPIPE, SIG_IGN);
  Log(Level::kInfo, "lost");
  FlushLogs(gone[1], 1000);
  close(gone[1]);
  const std::string told = AfterTime(Written());
  EXPECT_EQ(told, "\"level\":\"warning\",\"message\":\"log lines were dropped\",\"count\":1}\n");
}

// A limit of size stands for a disk: what fits of a line is written, and no more.
TEST_F(LogTest, WhatADiskDoesNotTakeIsCountedAndTheNextLineIsWhole) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit little = {20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &little), 0);
  for (int i = 0; i < 3; ++i) Log(Level::kInfo, "lost");
  FlushLogs(fileno(file), 1000);
  setrlimit(RLIMIT_FSIZE, &before);
  Log(Level::kInfo, "written");
  FlushLogs(fileno(file), 1000);
  std::string text(4096, ' ');
  text.resize(static_cast<size_t>(pread(fileno(file), text.data(), text.size(), 0)));
  std::fclose(file);
  EXPECT_EQ(text.find('\n'), 20u);
  EXPECT_EQ(text.find("lost"), std::string::npos);
  const std::string rest = text.substr(21);
  EXPECT_TRUE(rest.starts_with("{\"time\"")) << text;
  const size_t written = rest.find("\"message\":\"written\"}\n{"), told = rest.find("\"count\":3}\n");
  EXPECT_NE(told, std::string::npos) << text;
  EXPECT_LT(written, told) << text;
}

}  // namespace
}  // namespace wf::observe
