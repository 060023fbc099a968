#include <gtest/gtest.h>

#include <limits>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

using Places = std::vector<int64_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Places PlacesOf(std::vector<float> sorted, std::vector<float> values, bool right) {
  FakeJob job;
  const wf_tensor x = Vector(sorted, WF_F32), wanted = Vector(values, WF_F32);
  const uint8_t is_right = right ? 1 : 0;
  wf_tensor places;
  EXPECT_EQ(wf_n_searchsorted(&job.ctx, &x, &wanted, &is_right, &places), 0) << job.message;
  return Elements<int64_t>(places);
}

TEST(SearchSorted, SaysBeforeWhichElementAValueStands) {
  EXPECT_EQ(PlacesOf({1, 3, 3, 5}, {0, 1, 3, 4, 9}, false), (Places{0, 0, 1, 3, 4}));
  EXPECT_EQ(PlacesOf({1, 3, 3, 5}, {0, 1, 3, 4, 9}, true), (Places{0, 1, 3, 3, 4}));
}

TEST(SearchSorted, KnowsNanAsTheLast) {
  EXPECT_EQ(PlacesOf({1, kNan, kNan}, {kNan, 2}, false), (Places{1, 1}));
  EXPECT_EQ(PlacesOf({1, kNan, kNan}, {kNan, 2}, true), (Places{3, 1}));
}

TEST(SearchSorted, FindsNothingInNothing) {
  EXPECT_EQ(PlacesOf({}, {1, 2}, false), (Places{0, 0}));
  EXPECT_EQ(PlacesOf({1}, {}, true), Places{});
}

TEST(SearchSorted, StopsWhenTheRequestIsAbandoned) {
  FakeJob job;
  job.stop = 1;
  std::vector<float> data{1};
  const wf_tensor x = Vector(data, WF_F32);
  const uint8_t right = 0;
  wf_tensor places;
  EXPECT_EQ(wf_n_searchsorted(&job.ctx, &x, &x, &right, &places), WF_FAILED);
}

}  // namespace
}  // namespace wf::nodes
