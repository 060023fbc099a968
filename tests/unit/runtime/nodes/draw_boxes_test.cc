#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

wf_tensor Tensor(void* data, uint8_t dtype, std::vector<int64_t> dims) {
  wf_tensor x = Dense(dtype, dims);
  x.data = data;
  return x;
}

TEST(DrawBoxes, LeavesThePictureAloneAndReadsRowsWithGaps) {
  std::vector<uint8_t> px{1, 2, 99, 3, 4, 99}, colour{7};
  std::vector<float> boxes{1, 0, 2, 2};
  wf_tensor picture = Tensor(px.data(), WF_U8, {2, 2});
  picture.stride[0] = 3;
  const wf_tensor of = Tensor(boxes.data(), WF_F32, {1, 4}), in = Tensor(colour.data(), WF_U8, {1});
  const int64_t thickness = 1;
  FakeJob job;
  wf_tensor drawn;
  ASSERT_EQ(wf_n_draw_boxes(&job.ctx, &picture, &of, &in, &thickness, &drawn), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(drawn), (std::vector<uint8_t>{1, 7, 3, 7}));
  EXPECT_EQ(px, (std::vector<uint8_t>{1, 2, 99, 3, 4, 99}));
}

TEST(DrawBoxes, SaysWhatIsWrong) {
  std::vector<uint8_t> px(12), colour{7, 8};
  const wf_tensor picture = Tensor(px.data(), WF_U8, {2, 2, 3}), none = Tensor(nullptr, WF_F32, {0, 4}),
                  in = Tensor(colour.data(), WF_U8, {2});
  const int64_t thickness = 1, nothing = 0;
  FakeJob job;
  wf_tensor drawn;
  EXPECT_EQ(wf_n_draw_boxes(&job.ctx, &picture, &none, &in, &thickness, &drawn), WF_FAILED);
  EXPECT_EQ(job.message, "a colour of 2 levels for 3 channels");
  const wf_tensor two = Tensor(px.data(), WF_U8, {2, 2, 2});
  FakeJob other;
  EXPECT_EQ(wf_n_draw_boxes(&other.ctx, &two, &none, &in, &nothing, &drawn), WF_FAILED);
  EXPECT_EQ(other.message, "frames of 0 pixels");
  EXPECT_EQ(other.code, 7000);
}

TEST(DrawBoxes, StopsWhenNobodyWaits) {
  std::vector<uint8_t> px(4), colour{7};
  std::vector<float> boxes(size_t{4} * 1000, 1);
  const wf_tensor picture = Tensor(px.data(), WF_U8, {2, 2}), of = Tensor(boxes.data(), WF_F32, {1000, 4}),
                  in = Tensor(colour.data(), WF_U8, {1});
  const int64_t thickness = 1;
  FakeJob job;
  job.stop = 1;
  wf_tensor drawn;
  EXPECT_EQ(wf_n_draw_boxes(&job.ctx, &picture, &of, &in, &thickness, &drawn), WF_FAILED);
  EXPECT_EQ(job.code, 0);
}

TEST(DrawBoxes, StopsWithinTheFramesOfOneThickBox) {
  constexpr int64_t kSide = 1000;
  std::vector<uint8_t> px(kSide * kSide, 1), colour{7};
  std::vector<float> boxes{0, 0, kSide, kSide};
  const wf_tensor picture = Tensor(px.data(), WF_U8, {kSide, kSide}), of = Tensor(boxes.data(), WF_F32, {1, 4}),
                  in = Tensor(colour.data(), WF_U8, {1});
  const int64_t thickness = 400;
  FakeJob job;
  job.stop = 1;
  wf_tensor drawn;
  EXPECT_EQ(wf_n_draw_boxes(&job.ctx, &picture, &of, &in, &thickness, &drawn), WF_FAILED);
  FakeJob wanted;
  ASSERT_EQ(wf_n_draw_boxes(&wanted.ctx, &picture, &of, &in, &thickness, &drawn), 0);
  const std::vector<uint8_t> found = Elements<uint8_t>(drawn);
  EXPECT_EQ(std::count(found.begin(), found.end(), 1), 200 * 200);
  EXPECT_EQ(std::vector<uint8_t>(found.begin() + 400 * kSide + 398, found.begin() + 400 * kSide + 402), (std::vector<uint8_t>{7, 7, 1, 1}));
}

}  // namespace
}  // namespace wf::nodes
