#include "runtime/workbench/latency.h"

#include "gtest/gtest.h"

namespace wf::workbench {
namespace {

TEST(Latency, QuantilesAreNearTheExactOnes) {
  Latency latency;
  for (int64_t ns = 1; ns <= 1'000'000; ns += 7) latency.Add(ns);
  for (const double share : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = share * 1e6, is = static_cast<double>(latency.Quantile(share));
    EXPECT_GE(is, exact - 8) << share;
    EXPECT_LE(is, exact * 1.008 + 8) << share;
  }
  EXPECT_EQ(latency.Quantile(1), latency.max_ns());
}

TEST(Latency, ShortAndLongTimesHaveAPlace) {
  Latency latency;
  EXPECT_EQ(latency.Quantile(0.5), 0);
  latency.Add(-1);  // a clock that went back
  latency.Add(0);
  latency.Add(INT64_MAX);
  EXPECT_EQ(latency.Quantile(0.5), 0);
  EXPECT_EQ(latency.Quantile(1), INT64_MAX);
}

TEST(Latency, ThreadsAddUp) {
  Latency a, b;
  a.Add(100);
  b.Add(1000);
  a.Add(b);
  EXPECT_EQ(a.count(), 2);
  EXPECT_EQ(a.sum_ns(), 1100);
  EXPECT_EQ(a.max_ns(), 1000);
}

}  // namespace
}  // namespace wf::workbench
