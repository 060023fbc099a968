#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "runtime/observe/log.h"
#include "runtime/observe/metrics.h"

namespace wf::observe {
namespace {

TEST(LogThreads, EveryLineOfEveryThreadIsWrittenWholeOrCounted) {
  constexpr int kThreads = 4, kLines = 2000;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&left, t] {
      for (int i = 0; i < kLines; ++i) Log(Level::kInfo, "line", {{"thread", t}, {"i", i}});
      left.fetch_sub(1);
    });
  }
  std::string text;
  std::thread reader([&text, &ends] {
    char part[4096];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<size_t>(n));
  });
  while (left.load() != 0) DrainLogs(ends[1]);
  for (std::thread& thread : threads) thread.join();
  FlushLogs(ends[1], 5000);
  close(ends[1]);
  reader.join();
  close(ends[0]);

  std::vector<int> last(kThreads, -1);
  uint64_t lines = 0;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = text.substr(at, end - at);
    ASSERT_EQ(line.front(), '{');
    ASSERT_EQ(line.back(), '}') << line;
    const size_t thread_at = line.find("\"thread\":");
    if (thread_at == std::string::npos) continue;  // of dropped ones
    const int thread = std::stoi(line.substr(thread_at + 9)), i = std::stoi(line.substr(line.find("\"i\":") + 4));
    ASSERT_GT(i, last[static_cast<size_t>(thread)]) << line;
    last[static_cast<size_t>(thread)] = i;
    ++lines;
  }
  EXPECT_EQ(lines + DroppedLogLines(), uint64_t{kThreads * kLines});
}

TEST(MetricsThreads, AReaderMayLookWhileAnotherThreadCounts) {
  Histogram histogram;
  std::thread writer([&histogram] {
    for (int i = 0; i < 20'000; ++i) histogram.Add(i * 1000);
  });
  const Histogram* parts[] = {&histogram};
  for (int i = 0; i < 20; ++i) {
    MetricsText text;
    text.Family("h", "histogram", "H.");
    text.Durations({}, parts);
    EXPECT_NE(text.text().find("h_count"), std::string::npos);
  }
  writer.join();
  uint64_t count = 0;
  for (int i = 0; i < Histogram::kBuckets; ++i) count += histogram.count(i);
  EXPECT_EQ(count, 20'000u);
}

}  // namespace
}  // namespace wf::observe
