#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

template <typename T>
std::vector<T> SumsOf(std::vector<T> data, uint8_t dtype) {
  return ResultOf<T>(wf_n_cumsum, std::move(data), dtype, dtype);
}

TEST(CumSum, AddsUpToEachElement) {
  EXPECT_EQ(SumsOf<float>({1, 2, -4}, WF_F32), (std::vector<float>{1, 3, -1}));
  EXPECT_EQ(SumsOf<double>({0.5, 0.25}, WF_F64), (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(SumsOf<float>({}, WF_F32), std::vector<float>{});
}

TEST(CumSum, OfIntegersWraps) {
  EXPECT_EQ(SumsOf<int32_t>({INT32_MAX, 1}, WF_I32), (std::vector<int32_t>{INT32_MAX, INT32_MIN}));
  EXPECT_EQ(SumsOf<int64_t>({INT64_MIN, -1}, WF_I64), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(SumsOf<uint32_t>({UINT32_MAX, 2}, WF_U32), (std::vector<uint32_t>{UINT32_MAX, 1}));
  EXPECT_EQ(SumsOf<uint64_t>({UINT64_MAX, 2}, WF_U64), (std::vector<uint64_t>{UINT64_MAX, 1}));
}

TEST(CumSum, FailsOnTypesOfStorage) {
  for (const uint8_t dtype : {WF_BOOL, WF_I8, WF_U8, WF_I16, WF_U16, WF_F16, WF_BF16}) {
    FakeJob job;
    std::vector<uint16_t> data{1, 2};
    const wf_tensor x = Vector(data, dtype);
    wf_tensor sums;
    EXPECT_EQ(wf_n_cumsum(&job.ctx, &x, &sums), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
  }
}

TEST(CumSum, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) { ExpectItFailsWithoutMemoryAndStops(wf_n_cumsum); }

}  // namespace
}  // namespace wf::nodes
