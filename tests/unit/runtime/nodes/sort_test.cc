#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
std::vector<T> Sorted(std::vector<T> data, uint8_t dtype) {
  return ResultOf<T>(wf_n_sort, std::move(data), dtype, dtype);
}

TEST(Sort, PutsTheSmallestFirstAndNanLast) {
  EXPECT_EQ(Sorted<float>({3, -kInfinity, 2, kInfinity}, WF_F32), (std::vector<float>{-kInfinity, 2, 3, kInfinity}));
  EXPECT_EQ(Sorted<float>({}, WF_F32), std::vector<float>{});
  const std::vector<float> with_nan = Sorted<float>({kNan, kInfinity, -kNan, 3}, WF_F32);
  EXPECT_EQ(with_nan[0], 3);
  EXPECT_EQ(with_nan[1], kInfinity);
  EXPECT_TRUE(std::isnan(with_nan[2]) && std::isnan(with_nan[3]));
}

TEST(Sort, KnowsEveryType) {
  EXPECT_EQ(Sorted<uint8_t>({1, 0, 1}, WF_BOOL), (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ(Sorted<int8_t>({1, -1}, WF_I8), (std::vector<int8_t>{-1, 1}));
  EXPECT_EQ(Sorted<int64_t>({INT64_MAX, INT64_MIN}, WF_I64), (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(Sorted<uint16_t>({0x7e00, 0x7c00, 0x0001, 0xc000}, WF_F16), (std::vector<uint16_t>{0xc000, 0x0001, 0x7c00, 0x7e00}));
}

// Bit for bit: what is equal stays in its order.
template <typename T>
void ExpectSorted(uint8_t dtype, const std::vector<T>& few) {
  const std::vector<T> data = ManyAmong(few);
  std::vector<T> wanted = data;
  std::stable_sort(wanted.begin(), wanted.end(), [](const T& a, const T& b) { return a < b || (b != b && a == a); });
  const std::vector<T> found = Sorted(data, dtype);
  EXPECT_EQ(std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof(T)), 0);
}

TEST(Sort, KeepsTheOrderOfWhatIsEqualInLongVectors) {
  ExpectSorted<float>(WF_F32, {kNan, -kNan, kInfinity, -kInfinity, 0.0F, -0.0F, 1e-45F, -1e-45F});
  ExpectSorted<double>(WF_F64, {kNan, kInfinity, -kInfinity, 0.0, -0.0, 1e-320, -1e300});
  ExpectSorted<int8_t>(WF_I8, {INT8_MIN, INT8_MAX, 0});
  ExpectSorted<uint16_t>(WF_U16, {0, UINT16_MAX});
  ExpectSorted<int32_t>(WF_I32, {INT32_MIN, INT32_MAX, 0});
  ExpectSorted<uint64_t>(WF_U64, {0, UINT64_MAX});
}

TEST(Sort, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) { ExpectItFailsWithoutMemoryAndStops(wf_n_sort); }

}  // namespace
}  // namespace wf::nodes
