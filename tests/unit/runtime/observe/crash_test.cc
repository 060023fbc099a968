#include "runtime/observe/crash.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <functional>
#include <string>
#include <string_view>

namespace wf::observe {
namespace {

wf_bytes Bytes(const char* text) { return {reinterpret_cast<const uint8_t*>(text), std::char_traits<char>::length(text)}; }

struct Ended {
  int signal = 0;
  std::string told;  // behind its time
  std::string time;
};

// Runs `work` in a child with the handler installed; what it left on stderr and the signal that it died of.
Ended RunChild(const std::function<void()>& work) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    InstallCrashHandler();
    UseAlternateStack();
    work();
    _exit(0);
  }
  close(ends[1]);
  Ended ended;
  char part[512];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) ended.told.append(part, static_cast<size_t>(n));
  close(ends[0]);
  constexpr std::string_view kBegin = "{\"time\":\"", kTime = "2026-01-02T03:04:05.678Z";
  constexpr size_t kBehind = kBegin.size() + kTime.size() + 2;  // `",`
  if (ended.told.starts_with(kBegin) && ended.told.size() > kBehind) {
    ended.time = ended.told.substr(kBegin.size(), kTime.size());
    ended.told = "{" + ended.told.substr(kBehind);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ended.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return ended;
}

// Deeper than any stack, which the compiler must not know.
volatile int depth_left = INT32_MAX;
[[gnu::noinline]] int Deeper(volatile char* above) {
  volatile char here[4096];
  here[0] = above == nullptr ? char{0} : above[0];
  depth_left = depth_left - 1;
  return depth_left == 0 ? 0 : Deeper(here) + here[0];
}

TEST(Crash, TellsSignalRequestNodeAndModelThenDiesOfTheSignal) {
  const wf_bytes task = Bytes("Classify/logits"), model = Bytes("Digits");
  const Ended ended = RunChild([&] {
    const base::WorkingOn now(42, &task, &model);
    void* const none = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *static_cast<volatile int*>(none) = 1;
  });
  EXPECT_EQ(ended.signal, SIGSEGV);
  EXPECT_TRUE(ended.told.starts_with("{\"level\":\"error\",\"message\":\"crash\",\"signal\":11,\"address\":\"0x")) << ended.told;
  EXPECT_TRUE(ended.told.ends_with("\"data_id\":42,\"node\":\"Classify/logits\",\"model\":\"Digits\"}\n")) << ended.told;
}

TEST(Crash, TellsWhenAsLinesOfTheLogDo) {
  // `std::time` may be a tick behind the clock that the handler reads.
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    std::tm parts{};
    gmtime_r(&time.tv_sec, &parts);
    char text[32];
    return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts));
  };
  const std::string before = now();
  const std::string time = RunChild([] { abort(); }).time;
  ASSERT_EQ(time.size(), before.size() + 5) << time;
  EXPECT_LE(before, time);
  EXPECT_LE(time.substr(0, before.size()), now());
  EXPECT_TRUE(time[before.size()] == '.' && time.back() == 'Z') << time;
}

TEST(Crash, TellsOfAnAbortWithoutWork) {
  const Ended ended = RunChild([] { abort(); });
  EXPECT_EQ(ended.signal, SIGABRT);
  EXPECT_EQ(ended.told, "{\"level\":\"error\",\"message\":\"crash\",\"signal\":6,\"data_id\":0}\n");
}

TEST(Crash, NamesThatWouldBreakTheLineAreMadeHarmlessAndCut) {
  const std::string odd = "a\"b\\c\nd" + std::string(1000, 'x');
  const wf_bytes task = Bytes(odd.c_str());
  const Ended ended = RunChild([&] {
    const base::WorkingOn now(1, &task);
    abort();
  });
  EXPECT_NE(ended.told.find("\"node\":\"a?b?c?dxxx"), std::string::npos) << ended.told;
  EXPECT_TRUE(ended.told.ends_with("x\"}\n")) << ended.told;
  EXPECT_LT(ended.told.size(), 512u);
}

TEST(Crash, AStackOverflowIsToldToo) {
  const Ended ended = RunChild([] { (void)Deeper(nullptr); });
  EXPECT_EQ(ended.signal, SIGSEGV);
  EXPECT_NE(ended.told.find("\"signal\":11"), std::string::npos) << ended.told;
}

TEST(Crash, AStackOverflowOfAnotherThreadIsToldToo) {
  const Ended ended = RunChild([] { base::Thread("wf-deep", [] { (void)Deeper(nullptr); }).Join(); });
  EXPECT_EQ(ended.signal, SIGSEGV);
  EXPECT_NE(ended.told.find("\"signal\":11"), std::string::npos) << ended.told;
}

TEST(Working, IsRestoredWhenTheWorkEnds) {
  const wf_bytes outer = Bytes("a"), inner = Bytes("b");
  const base::WorkingOn first(1, &outer);
  {
    const base::WorkingOn second(2, &inner, &outer);
    EXPECT_EQ(working.data_id, 2u);
    EXPECT_EQ(working.model, &outer);
  }
  EXPECT_EQ(working.data_id, 1u);
  EXPECT_EQ(working.task, &outer);
  EXPECT_EQ(working.model, nullptr);
}

}  // namespace
}  // namespace wf::observe
