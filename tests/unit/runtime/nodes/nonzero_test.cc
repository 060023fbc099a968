#include <gtest/gtest.h>

#include <utility>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

std::vector<int64_t> PlacesOf(std::vector<uint8_t> data) { return ResultOf<int64_t>(wf_n_nonzero, std::move(data), WF_BOOL, WF_I64); }

TEST(NonZero, GivesThePlacesInTheirOrder) {
  EXPECT_EQ(PlacesOf({0, 1, 1, 0, 1}), (std::vector<int64_t>{1, 2, 4}));
  EXPECT_EQ(PlacesOf({0, 0}), std::vector<int64_t>{});
  EXPECT_EQ(PlacesOf({}), std::vector<int64_t>{});
  EXPECT_EQ(PlacesOf(std::vector<uint8_t>(1000, 1)).back(), 999);
  EXPECT_EQ(PlacesOf(std::vector<uint8_t>(8, 1)).size(), 8U);  // whole lines of memory
}

TEST(NonZero, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) { ExpectItFailsWithoutMemoryAndStops(wf_n_nonzero); }

}  // namespace
}  // namespace wf::nodes
