#include <gtest/gtest.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

std::vector<int64_t> PlacesOf(std::vector<uint8_t> data) {
  FakeJob job;
  const wf_tensor x = Vector(data, WF_BOOL);
  wf_tensor places;
  EXPECT_EQ(wf_n_nonzero(&job.ctx, &x, &places), 0) << job.message;
  EXPECT_EQ(places.dtype, WF_I64);
  return Elements<int64_t>(places);
}

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
