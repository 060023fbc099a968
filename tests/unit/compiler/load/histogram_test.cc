#include "compiler/load/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace wf::load {
namespace {

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram none;
  EXPECT_EQ(none.Quantile(0.5), 0);
  EXPECT_EQ(none.mean(), 0);
}

TEST(Histogram, QuantilesAreWithinOnePercentOfTheSortedValues) {
  std::mt19937_64 random(7);
  std::vector<int64_t> values;
  Histogram histogram;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<int64_t>(random() >> (random() % 60 + 1)));
    histogram.Add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const size_t rank = std::max<size_t>(static_cast<size_t>(std::ceil(q * 20'000)), 1);
    const auto exact = static_cast<double>(values[rank - 1]);
    EXPECT_GE(static_cast<double>(histogram.Quantile(q)), exact) << q;
    EXPECT_LE(static_cast<double>(histogram.Quantile(q)), exact * 1.008 + 1) << q;
  }
  EXPECT_EQ(histogram.count(), 20'000);
  EXPECT_EQ(histogram.Quantile(1), values.back());
}

TEST(Histogram, TakesTheExtremes) {
  Histogram histogram;
  histogram.Add(-5);
  histogram.Add(INT64_MAX);
  EXPECT_EQ(histogram.Quantile(0.5), 0);
  EXPECT_EQ(histogram.max(), INT64_MAX);
}

}  // namespace
}  // namespace wf::load
