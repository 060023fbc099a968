#include <gtest/gtest.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

struct Found {
  wf_code result;
  int32_t code;
  std::vector<int64_t> last;
};

Found LastAt(std::vector<int64_t> at, int64_t extent) {
  FakeJob job;
  const wf_tensor places = Vector(at, WF_I64);
  wf_tensor last;
  const wf_code result = wf_n_last_at(&job.ctx, &places, &extent, &last);
  return {result, job.code, result == 0 ? Elements<int64_t>(last) : std::vector<int64_t>{}};
}

TEST(LastAt, GivesOfEachPlaceTheLastThatNamesIt) {
  EXPECT_EQ(LastAt({2, 0, 2}, 4).last, (std::vector<int64_t>{1, -1, 2, -1}));
  EXPECT_EQ(LastAt({}, 2).last, (std::vector<int64_t>{-1, -1}));
  EXPECT_EQ(LastAt({}, 0).last, std::vector<int64_t>{});
}

TEST(LastAt, FailsWhenAPlaceIsOutside) {
  for (const int64_t at : {int64_t{-1}, int64_t{2}, INT64_MIN, INT64_MAX}) EXPECT_EQ(LastAt({0, at}, 2).code, 7001);
  EXPECT_EQ(LastAt({0}, 0).code, 7001);
  EXPECT_EQ(LastAt({0}, -5).code, 7001);
}

TEST(LastAt, FailsWhenTheExtentIsMoreThanAnyMemory) {
  for (const int64_t extent : {INT64_MAX, int64_t{1} << 61, int64_t{1} << 60}) EXPECT_EQ(LastAt({}, extent).code, 3012);
}

}  // namespace
}  // namespace wf::nodes
