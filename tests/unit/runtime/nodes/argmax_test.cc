#include <gtest/gtest.h>

#include <limits>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

int64_t ArgMax(std::vector<float> data) {
  FakeJob job;
  const wf_tensor x = Vector(data, WF_F32);
  int64_t index = -1;
  EXPECT_EQ(wf_n_argmax(&job.ctx, &x, &index), 0) << job.message;
  return index;
}

TEST(ArgMax, FindsTheLargest) {
  EXPECT_EQ(ArgMax({1, 3, 2}), 1);
  EXPECT_EQ(ArgMax({-5}), 0);
}

TEST(ArgMax, TakesTheFirstOfEquals) { EXPECT_EQ(ArgMax({1, 3, 3}), 1); }

TEST(ArgMax, TakesNanOnlyWhenThereIsNothingElse) {
  EXPECT_EQ(ArgMax({kNan, -1, kNan}), 1);
  EXPECT_EQ(ArgMax({kNan, kNan}), 0);
}

TEST(ArgMax, FailsOnAnEmptyVector) {
  FakeJob job;
  std::vector<float> data;
  const wf_tensor x = Vector(data, WF_F32);
  int64_t index = 0;
  EXPECT_EQ(wf_n_argmax(&job.ctx, &x, &index), WF_FAILED);
  EXPECT_EQ(job.code, 7005);
}

}  // namespace
}  // namespace wf::nodes
