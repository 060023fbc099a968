#include <gtest/gtest.h>

#include <cmath>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

// Two steps of two classes, in rows that lie `stride` apart.
wf_tensor Scores(std::vector<float>& data, int64_t stride = 2) {
  wf_tensor x = Vector(data, WF_F32);
  x.rank = 2;
  x.dim[0] = 2;
  x.dim[1] = 2;
  x.stride[0] = stride;
  x.stride[1] = 1;
  return x;
}

wf_code Search(FakeJob& job, const wf_tensor& scores, int64_t width, int64_t blank, wf_list* readings) {
  return wf_n_ctc_beam(&job.ctx, &scores, &width, &blank, readings);
}

TEST(CtcBeam, AddsUpTheWaysOfEachReading) {
  std::vector<float> dense{0.6F, 0.4F, 0.6F, 0.4F}, apart{0.6F, 0.4F, 9, 9, 0.6F, 0.4F};
  for (const wf_tensor& scores : {Scores(dense), Scores(apart, 4)}) {
    FakeJob job;
    wf_list readings;
    ASSERT_EQ(Search(job, scores, 8, 0, &readings), 0) << job.message;
    ASSERT_EQ(readings.len, 2);
    const auto* const found = static_cast<const wf_reading*>(readings.ptr);
    EXPECT_EQ(Elements<int64_t>(found[0].tokens), std::vector<int64_t>{1});  // 0 1, 1 0 and 1 1
    EXPECT_NEAR(found[0].score, std::log(0.64), 1e-6);
    EXPECT_EQ(Elements<int64_t>(found[1].tokens), std::vector<int64_t>{});
    EXPECT_NEAR(found[1].score, std::log(0.36), 1e-6);
  }
}

TEST(CtcBeam, FailsOnAWidthOrABlankThatIsNone) {
  std::vector<float> data{0.5F, 0.5F, 0.5F, 0.5F};
  const wf_tensor scores = Scores(data);
  wf_list readings;
  for (const int64_t width : {int64_t{0}, int64_t{-1}, int64_t{WF_MAX_BEAMS} + 1}) {
    FakeJob job;
    EXPECT_EQ(Search(job, scores, width, 0, &readings), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
  }
  for (const int64_t blank : {-1, 2}) {
    FakeJob job;
    EXPECT_EQ(Search(job, scores, 4, blank, &readings), WF_FAILED);
    EXPECT_EQ(job.code, 7001);
  }
}

TEST(CtcBeam, FailsWhereverMemoryIsSpentAndStopsWhenAbandoned) {
  std::vector<float> data{0.5F, 0.5F, 0.5F, 0.5F};
  const wf_tensor scores = Scores(data);
  wf_list readings;
  FakeJob rich;
  ASSERT_EQ(Search(rich, scores, 4, 0, &readings), 0);
  const uint64_t needed = FakeJob().budget - rich.budget;
  for (uint64_t budget = 0; budget < needed; budget += 8) {
    FakeJob job;
    job.budget = budget;
    EXPECT_EQ(Search(job, scores, 4, 0, &readings), WF_FAILED);
    EXPECT_EQ(job.code, 3012);
  }
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(Search(abandoned, scores, 4, 0, &readings), WF_FAILED);
  EXPECT_EQ(abandoned.code, 0);
}

}  // namespace
}  // namespace wf::nodes
