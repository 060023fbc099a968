#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
std::vector<int64_t> TopIndices(std::vector<T> data, uint8_t dtype, int64_t k) {
  FakeJob job;
  const wf_tensor x = Vector(data, dtype);
  wf_top_k_result result;
  EXPECT_EQ(wf_n_top_k(&job.ctx, &x, &k, &result), 0) << job.message;
  EXPECT_EQ(result.values.dtype, dtype);
  EXPECT_EQ(result.indices.dtype, WF_I64);
  EXPECT_EQ(result.values.dim[0], k);
  const auto indices = Elements<int64_t>(result.indices);
  const auto values = Elements<T>(result.values);
  for (size_t i = 0; i < indices.size(); ++i) EXPECT_EQ(std::memcmp(&values[i], &data[indices[i]], sizeof(T)), 0);
  return indices;
}

using Indices = std::vector<int64_t>;

TEST(TopK, GivesTheLargestFirst) { EXPECT_EQ(TopIndices<float>({0.1F, 0.7F, -3, 0.2F}, WF_F32, 3), (Indices{1, 3, 0})); }

TEST(TopK, OrdersEqualValuesByIndex) {
  EXPECT_EQ(TopIndices<float>({5, 7, 5, 7, 5}, WF_F32, 4), (Indices{1, 3, 0, 2}));
  EXPECT_EQ(TopIndices<float>({-0.0F, 0.0F}, WF_F32, 2), (Indices{0, 1}));
}

TEST(TopK, PutsNanAfterAllNumbers) { EXPECT_EQ(TopIndices<float>({kNan, -kInfinity, kNan, 3}, WF_F32, 4), (Indices{3, 1, 0, 2})); }

TEST(TopK, OrdersTheWholeOfALongVector) {
  std::vector<int32_t> data(50'000);
  uint32_t state = 1;
  for (int32_t& value : data) value = static_cast<int32_t>(state = state * 1664525 + 1013904223);
  const Indices indices = TopIndices<int32_t>(data, WF_I32, static_cast<int64_t>(data.size()));
  for (size_t i = 1; i < indices.size(); ++i) ASSERT_GE(data[indices[i - 1]], data[indices[i]]);
}

TEST(TopK, IsOneOrderHoweverManyAreWanted) {
  std::vector<float> data(3000);
  uint32_t state = 1;
  for (float& value : data) {
    const uint32_t dice = (state = state * 1664525 + 1013904223) >> 24;
    value = dice < 9 ? kNan : dice < 20 ? -0.0F : dice < 30 ? 0.0F : dice < 40 ? -kInfinity : static_cast<float>(dice) - 140;
  }
  Indices all(data.size());
  std::iota(all.begin(), all.end(), 0);
  std::sort(all.begin(), all.end(), Ranking<float>{data.data()});
  for (const size_t k : {3000u, 2999u, 376u, 375u, 374u, 1u}) {
    EXPECT_EQ(TopIndices<float>(data, WF_F32, static_cast<int64_t>(k)), Indices(all.begin(), all.begin() + static_cast<int64_t>(k))) << k;
  }
}

TEST(TopK, KnowsEveryNumericType) {
  EXPECT_EQ(TopIndices<int8_t>({-1, 1}, WF_I8, 1), Indices{1});
  EXPECT_EQ(TopIndices<int16_t>({-1, 1}, WF_I16, 1), Indices{1});
  EXPECT_EQ(TopIndices<int64_t>({INT64_MIN, INT64_MAX}, WF_I64, 1), Indices{1});
  EXPECT_EQ(TopIndices<uint8_t>({1, 255}, WF_U8, 1), Indices{1});
  EXPECT_EQ(TopIndices<uint16_t>({1, 65535}, WF_U16, 1), Indices{1});
  EXPECT_EQ(TopIndices<uint32_t>({1, UINT32_MAX}, WF_U32, 1), Indices{1});
  EXPECT_EQ(TopIndices<uint64_t>({1, UINT64_MAX}, WF_U64, 1), Indices{1});
  EXPECT_EQ(TopIndices<double>({1e300, 2e300}, WF_F64, 1), Indices{1});
  // -2, 1.5, the smallest subnormal, NaN, infinity
  EXPECT_EQ(TopIndices<uint16_t>({0xc000, 0x3e00, 0x0001, 0x7e00, 0x7c00}, WF_F16, 5), (Indices{4, 1, 2, 0, 3}));
  // -2, 1.5, NaN, infinity
  EXPECT_EQ(TopIndices<uint16_t>({0xc000, 0x3fc0, 0x7fc0, 0x7f80}, WF_BF16, 4), (Indices{3, 1, 0, 2}));
}

TEST(TopK, OfNothingIsEmpty) {
  EXPECT_EQ(TopIndices<float>({1, 2}, WF_F32, 0), Indices{});
  EXPECT_EQ(TopIndices<float>({}, WF_F32, 0), Indices{});
}

TEST(TopK, FailsWhenKIsOutsideTheVector) {
  for (const int64_t k : {int64_t{3}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    FakeJob job;
    std::vector<float> data{1, 2};
    const wf_tensor x = Vector(data, WF_F32);
    wf_top_k_result result;
    EXPECT_EQ(wf_n_top_k(&job.ctx, &x, &k, &result), WF_FAILED);
    EXPECT_EQ(job.code, 7001);
    EXPECT_EQ(job.message, "top_k of " + std::to_string(k) + " from 2 values");
  }
}

TEST(TopK, FailsWhenMemoryIsSpent) {
  FakeJob job;
  job.budget = 64;  // enough for the values only
  std::vector<float> data{1, 2};
  const wf_tensor x = Vector(data, WF_F32);
  const int64_t k = 1;
  wf_top_k_result result;
  EXPECT_EQ(wf_n_top_k(&job.ctx, &x, &k, &result), WF_FAILED);
  EXPECT_EQ(job.code, 3012);
}

TEST(TopK, StopsWhenTheRequestIsAbandoned) {
  FakeJob job;
  job.stop = 1;
  std::vector<float> data{1, 2};
  const wf_tensor x = Vector(data, WF_F32);
  const int64_t k = 1;
  wf_top_k_result result;
  EXPECT_EQ(wf_n_top_k(&job.ctx, &x, &k, &result), WF_FAILED);
  EXPECT_EQ(job.code, 0);
}

}  // namespace
}  // namespace wf::nodes
