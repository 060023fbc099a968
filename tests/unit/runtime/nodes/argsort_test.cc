#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

using Order = std::vector<int64_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
Order OrderOf(std::vector<T> data, uint8_t dtype) {
  return ResultOf<int64_t>(wf_n_argsort, std::move(data), dtype, WF_I64);
}

TEST(ArgSort, GivesTheSmallestFirst) {
  EXPECT_EQ(OrderOf<float>({3, -kInfinity, 2, kInfinity}, WF_F32), (Order{1, 2, 0, 3}));
  EXPECT_EQ(OrderOf<float>({}, WF_F32), Order{});
}

TEST(ArgSort, OrdersEqualValuesByIndex) { EXPECT_EQ(OrderOf<float>({1, 0.0F, 1, -0.0F, 1}, WF_F32), (Order{1, 3, 0, 2, 4})); }

TEST(ArgSort, PutsNanAfterAllNumbers) { EXPECT_EQ(OrderOf<float>({kNan, kInfinity, -kNan, 3}, WF_F32), (Order{3, 1, 0, 2})); }

TEST(ArgSort, KnowsEveryType) {
  EXPECT_EQ(OrderOf<uint8_t>({1, 0, 1}, WF_BOOL), (Order{1, 0, 2}));
  EXPECT_EQ(OrderOf<int8_t>({1, -1}, WF_I8), (Order{1, 0}));
  EXPECT_EQ(OrderOf<int16_t>({1, -1}, WF_I16), (Order{1, 0}));
  EXPECT_EQ(OrderOf<int32_t>({INT32_MAX, INT32_MIN}, WF_I32), (Order{1, 0}));
  EXPECT_EQ(OrderOf<int64_t>({INT64_MAX, INT64_MIN}, WF_I64), (Order{1, 0}));
  EXPECT_EQ(OrderOf<uint8_t>({255, 1}, WF_U8), (Order{1, 0}));
  EXPECT_EQ(OrderOf<uint16_t>({65535, 1}, WF_U16), (Order{1, 0}));
  EXPECT_EQ(OrderOf<uint32_t>({UINT32_MAX, 1}, WF_U32), (Order{1, 0}));
  EXPECT_EQ(OrderOf<uint64_t>({UINT64_MAX, 1}, WF_U64), (Order{1, 0}));
  EXPECT_EQ(OrderOf<double>({2e300, 1e300}, WF_F64), (Order{1, 0}));
  EXPECT_EQ(OrderOf<uint16_t>({0x7e00, 0x7c00, 0x0001, 0xc000}, WF_F16), (Order{3, 2, 1, 0}));   // NaN, infinity, the smallest, -2
  EXPECT_EQ(OrderOf<uint16_t>({0x7fc0, 0x7f80, 0x3fc0, 0xc000}, WF_BF16), (Order{3, 2, 1, 0}));  // NaN, infinity, 1.5, -2
}

// Longer ones are sorted by the digits of their keys.
template <typename T>
void ExpectStableOrder(uint8_t dtype, const std::vector<T>& few) {
  const std::vector<T> data = ManyAmong(few);
  std::vector<int64_t> wanted(data.size());
  std::iota(wanted.begin(), wanted.end(), int64_t{0});
  std::stable_sort(wanted.begin(), wanted.end(), [&](int64_t a, int64_t b) {
    const T &left = data[static_cast<size_t>(a)], &right = data[static_cast<size_t>(b)];
    return left < right || (right != right && left == left);
  });
  EXPECT_EQ(OrderOf(data, dtype), wanted);
}

TEST(ArgSort, OrdersTheWholeOfALongVector) {
  ExpectStableOrder<float>(WF_F32, {kNan, -kNan, kInfinity, -kInfinity, 0.0F, -0.0F, 1e-45F, -1e-45F});
  ExpectStableOrder<double>(WF_F64, {kNan, kInfinity, -kInfinity, 0.0, -0.0, 1e-320, -1e300});
  ExpectStableOrder<int8_t>(WF_I8, {INT8_MIN, INT8_MAX, 0});
  ExpectStableOrder<uint16_t>(WF_U16, {0, UINT16_MAX});
  ExpectStableOrder<int32_t>(WF_I32, {INT32_MIN, INT32_MAX, 0});
  ExpectStableOrder<int64_t>(WF_I64, {INT64_MIN, INT64_MAX, 0});
  ExpectStableOrder<uint64_t>(WF_U64, {0, UINT64_MAX});
  std::vector<uint16_t> brain(3000, 0x7fc0), half(3000, 0x7e00);  // NaN
  brain[2999] = 0x7f80;
  half[2999] = 0xfc00;
  EXPECT_EQ(OrderOf(brain, WF_BF16)[0], 2999);
  EXPECT_EQ(OrderOf(half, WF_F16)[0], 2999);
  EXPECT_EQ(OrderOf(brain, WF_BF16)[2999], 2998);
}

TEST(ArgSort, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) { ExpectItFailsWithoutMemoryAndStops(wf_n_argsort); }

}  // namespace
}  // namespace wf::nodes
