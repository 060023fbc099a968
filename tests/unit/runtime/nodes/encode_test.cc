#include <gtest/gtest.h>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

wf_tensor Picture(std::vector<uint8_t>& data, std::vector<int64_t> dims) {
  wf_tensor x = Dense(WF_U8, dims);
  x.data = data.data();
  return x;
}

TEST(Encode, ReadsRowsWithGaps) {
  std::vector<uint8_t> data{10, 20, 30, 99, 40, 50, 60, 99};
  wf_tensor px = Picture(data, {2, 3});
  px.stride[0] = 4;
  const int64_t best = 100;
  const wf_optional_i64 none{};
  for (const bool is_png : {true, false}) {
    FakeJob job;
    wf_bytes file;
    ASSERT_EQ(is_png ? wf_n_encode_png(&job.ctx, &px, &file) : wf_n_encode_jpeg(&job.ctx, &px, &best, &file), 0) << job.message;
    wf_tensor found;
    ASSERT_EQ(wf_n_decode_gray(&job.ctx, &file, &none, &none, &found), 0) << job.message;
    const std::vector<uint8_t> wanted{10, 20, 30, 40, 50, 60}, levels = Elements<uint8_t>(found);
    ASSERT_EQ(levels.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(levels[i], wanted[i], is_png ? 0 : 2);
  }
}

TEST(Encode, FailsWithoutMemory) {
  std::vector<uint8_t> data(size_t{16} * 16);
  const wf_tensor px = Picture(data, {16, 16});
  const int64_t quality = 75;
  for (const bool is_png : {true, false}) {
    FakeJob job;
    job.budget = 8;
    wf_bytes file;
    EXPECT_EQ(is_png ? wf_n_encode_png(&job.ctx, &px, &file) : wf_n_encode_jpeg(&job.ctx, &px, &quality, &file), WF_FAILED);
    EXPECT_EQ(job.code, 3012);
  }
}

TEST(Encode, EndsOnceItIsStopped) {
  std::vector<uint8_t> data(size_t{64} * 64);
  const wf_tensor px = Picture(data, {64, 64});
  const int64_t quality = 75;
  for (const bool is_png : {true, false}) {
    FakeJob job;
    job.stop = 1;
    wf_bytes file;
    EXPECT_EQ(is_png ? wf_n_encode_png(&job.ctx, &px, &file) : wf_n_encode_jpeg(&job.ctx, &px, &quality, &file), WF_FAILED);
    EXPECT_EQ(job.code, 0) << job.message;
  }
}

TEST(Encode, SaysWhatIsWrong) {
  std::vector<uint8_t> data(40);
  const int64_t quality = 75, none = 0;
  const auto jpeg = [&](std::vector<int64_t> dims, const int64_t& of) {
    const wf_tensor px = Picture(data, std::move(dims));
    FakeJob job;
    wf_bytes file;
    EXPECT_EQ(wf_n_encode_jpeg(&job.ctx, &px, &of, &file), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
    return job.message;
  };
  EXPECT_EQ(jpeg({2, 2, 4}, quality), "a picture of 4 channels is not encoded");
  EXPECT_EQ(jpeg({2, 2, 1, 2}, quality), "a picture of 4 axes is not encoded; it has height, width and channels");
  EXPECT_EQ(jpeg({2, 2, 3}, none), "quality 0; it is 1..100");
  EXPECT_EQ(jpeg({0, 7}, quality), "a picture of 7 x 0 pixels; 1 x 1 to 65500 x 65500 are encoded");
}

}  // namespace
}  // namespace wf::nodes
