// Counting sequences of tokens.
#include <gtest/gtest.h>

#include "tests/unit/runtime/kernels/outputs.h"

namespace wf::kernels {
namespace {

using testing::Longs;
using testing::RunFloats;
using F = std::vector<float>;
using Weight = CountGrams::Weight;

TEST(CountGrams, PairsAtEachDistanceAndSingleTokensOnce) {
  CountGrams count{{{{7}, 2}, {{1, 2}, 0}, {{1, 2, 3}, 1}}, 1, 3, 1, 3, Weight::kCount, {}};
  EXPECT_EQ(RunFloats(count, {Longs({6}, {1, 2, 3, 7, 7, 2})}, {3}), (F{1, 1, 2}));
  EXPECT_EQ(RunFloats(count, {Longs({5}, {1, 1, 2, 2, 3})}, {3}), (F{3, 1, 0}));
  count.least = 2;
  EXPECT_EQ(RunFloats(count, {Longs({3}, {7, 1, 2})}, {3}), (F{1, 0, 0}));
}

TEST(CountGrams, RowsAreCountedApart) {
  const CountGrams count{{{{1, 2}, 0}}, 2, 2, 0, 1, Weight::kCount, {}};
  EXPECT_EQ(RunFloats(count, {Longs({2, 3}, {1, 2, 1, 2, 1, 2})}, {2, 1}), (F{1, 1}));
  EXPECT_EQ(RunFloats(count, {testing::Of<int32_t>(WF_I32, {2}, {1, 2})}, {1}), (F{1}));
  EXPECT_EQ(RunFloats(count, {Longs({2, 0}, {})}, {2, 1}), (F{0, 0}));
}

TEST(CountGrams, WeightsByPlace) {
  CountGrams count{{{{1}, 0}, {{2}, 1}}, 1, 1, 0, 2, Weight::kPresence, {3, 5}};
  EXPECT_EQ(RunFloats(count, {Longs({3}, {1, 1, 4})}, {2}), (F{3, 0}));
  count.weight = Weight::kCountTimesWeight;
  EXPECT_EQ(RunFloats(count, {Longs({3}, {1, 1, 2})}, {2}), (F{6, 5}));
  count.weights.clear();
  EXPECT_EQ(RunFloats(count, {Longs({3}, {1, 1, 2})}, {2}), (F{2, 1}));
}

TEST(CountGrams, DistancesBeyondTheRowEnd) {
  const CountGrams count{{{{1, 1}, 0}}, 2, 2, INT64_MAX, 1, Weight::kCount, {}};
  EXPECT_EQ(RunFloats(count, {Longs({4}, {1, 1, 1, 1})}, {1}), (F{6}));
}

}  // namespace
}  // namespace wf::kernels
