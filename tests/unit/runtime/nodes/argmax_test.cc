#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

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

TEST(ArgMax, FindsInLongVectorsWhatASearchFromTheFrontFinds) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto first = [](const std::vector<float>& data) {
    size_t best = 0;
    for (size_t i = 1; i < data.size(); ++i) {
      if (data[i] > data[best] || (std::isnan(data[best]) && !std::isnan(data[i]))) best = i;
    }
    return static_cast<int64_t>(best);
  };
  std::minstd_rand random(1);
  for (const size_t n : {63, 64, 65, 1000, 16384, 16385, 50000}) {
    std::vector<float> data(n);
    for (float& x : data) x = random() % 97 == 0 ? kNan : static_cast<float>(random() % 5000);
    EXPECT_EQ(ArgMax(data), first(data)) << n;
    std::fill(data.begin(), data.end(), kNan);
    EXPECT_EQ(ArgMax(data), 0) << n;
    data.back() = -kInfinity;
    EXPECT_EQ(ArgMax(data), n - 1) << n;
  }
}

template <typename T>
void ExpectTheFirstOfTheLargest(uint8_t dtype, const std::vector<T>& among) {
  std::minstd_rand random(2);
  for (size_t n = 1; n < 600; n += n < 140 ? 1 : 7) {
    std::vector<T> data(n);
    for (T& x : data) x = among[random() % among.size()];
    size_t best = 0;
    for (size_t i = 1; i < n; ++i) {
      if (data[i] > data[best] || (data[best] != data[best] && data[i] == data[i])) best = i;
    }
    FakeJob job;
    const wf_tensor x = Vector(data, dtype);
    int64_t index = -1;
    EXPECT_EQ(wf_n_argmax(&job.ctx, &x, &index), 0) << job.message;
    EXPECT_EQ(index, static_cast<int64_t>(best)) << n << " of dtype " << int{dtype};
  }
}

TEST(ArgMax, OfEveryTypeAndLength) {
  constexpr double kMore = std::numeric_limits<double>::infinity();
  ExpectTheFirstOfTheLargest<float>(WF_F32, {kNan, 0.0F, -0.0F});
  ExpectTheFirstOfTheLargest<double>(WF_F64, {static_cast<double>(kNan), -kMore});
  ExpectTheFirstOfTheLargest<int8_t>(WF_I8, {INT8_MIN, -1});
  ExpectTheFirstOfTheLargest<uint8_t>(WF_U8, {0, 1, 2, 3, 254});
  ExpectTheFirstOfTheLargest<int16_t>(WF_I16, {INT16_MIN, 5, 6});
  ExpectTheFirstOfTheLargest<uint16_t>(WF_U16, {0});
  ExpectTheFirstOfTheLargest<int32_t>(WF_I32, {INT32_MIN, INT32_MAX});
  ExpectTheFirstOfTheLargest<uint32_t>(WF_U32, {0, 1, UINT32_MAX});
  ExpectTheFirstOfTheLargest<int64_t>(WF_I64, {INT64_MIN, -1, 0});
  ExpectTheFirstOfTheLargest<uint64_t>(WF_U64, {0, 1, UINT64_MAX});
}

TEST(ArgMax, FailsOnAnEmptyVector) {
  FakeJob job;
  std::vector<float> data;
  const wf_tensor x = Vector(data, WF_F32);
  int64_t index = 0;
  EXPECT_EQ(wf_n_argmax(&job.ctx, &x, &index), WF_FAILED);
  EXPECT_EQ(job.code, 7005);
}

// wf_n_argmax_rows of data whose rows begin `stride` elements one behind the other.
wf_code ArgMaxRows(FakeJob& job, std::vector<float> data, std::array<int64_t, 2> shape, int64_t stride, wf_tensor& indices) {
  wf_tensor x = Vector(data, WF_F32);
  x.rank = 2;
  std::copy(shape.begin(), shape.end(), x.dim);
  x.stride[0] = stride;
  x.stride[1] = 1;
  return wf_n_argmax_rows(&job.ctx, &x, &indices);
}

TEST(ArgMaxRows, FindsTheLargestOfEach) {
  FakeJob job;
  wf_tensor indices{};
  EXPECT_EQ(ArgMaxRows(job, {1, 3, 3, kNan, kNan, kNan, kNan, -1, -2}, {3, 3}, 3, indices), 0) << job.message;
  EXPECT_EQ(Elements<int64_t>(indices), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(ArgMaxRows(job, {1, 3, 9, 4, 2, 9}, {2, 2}, 3, indices), 0) << job.message;
  EXPECT_EQ(Elements<int64_t>(indices), (std::vector<int64_t>{1, 0}));
}

TEST(ArgMaxRows, FailsOnRowsOfNothing) {
  FakeJob job;
  wf_tensor indices{};
  EXPECT_EQ(ArgMaxRows(job, {}, {0, 0}, 0, indices), 0) << job.message;
  EXPECT_EQ(ArgMaxRows(job, {}, {3, 0}, 0, indices), WF_FAILED);
  EXPECT_EQ(job.code, 7005);
}

}  // namespace
}  // namespace wf::nodes
