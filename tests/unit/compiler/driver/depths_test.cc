#include "compiler/driver/depths.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

using Numbers = std::vector<size_t>;

TEST(Depths, AreThoseOfTheLongestWay) { EXPECT_EQ(Depths({{}, {0}, {0, 1}, {}}), (Numbers{0, 1, 2, 0})); }

TEST(Depths, EndInCircles) {
  for (const size_t depth : Depths({{1}, {0}, {1}})) EXPECT_LT(depth, 3u);
}

TEST(Depths, CountWaitsThatCloseNoCircle) { EXPECT_EQ(Depths({{}, {}, {}}, {{}, {0}, {1}}, {0, 0, 0}), (Numbers{0, 1, 2})); }

// 1 reads 0 and 2 reads 1, while 0 waits for 2.
TEST(Depths, GoAlongWhatIsReadInACircle) { EXPECT_EQ(Depths({{}, {0}, {1}}, {{2}, {}, {}}, {0, 0, 0}), (Numbers{0, 1, 2})); }

// 1 and 2 wait for each other, neither reading the other.
TEST(Depths, GoByRankWhereNothingIsRead) {
  EXPECT_EQ(Depths({{}, {0}, {0}}, {{}, {2}, {1}}, {0, 5, 4}), (Numbers{0, 2, 1}));
  EXPECT_EQ(Depths({{}, {0}, {0}}, {{}, {2}, {1}}, {0, 4, 5}), (Numbers{0, 1, 2}));
}

TEST(Depths, AreThoseOfReadsWithoutWaits) {
  const Reads reads = {{}, {0}, {1, 3}, {0}, {}};
  EXPECT_EQ(Depths(reads, Reads(reads.size()), Numbers(reads.size(), 0)), Depths(reads));
}

TEST(Depths, BearLongWays) {
  Reads reads(100'000), waits(100'000);
  for (size_t at = 1; at < waits.size(); ++at) waits[at] = {at - 1};
  waits[0] = {waits.size() - 1};
  EXPECT_EQ(Depths(reads, waits, Numbers(reads.size(), 0)).back(), waits.size() - 1);
}

}  // namespace
}  // namespace wf::driver
