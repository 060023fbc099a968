#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "runtime/nodes/nodes.h"
#include "runtime/nodes/sort_keys.h"
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

template <typename T>
void ExpectSortedInAnyLength(uint8_t dtype) {
  std::mt19937_64 random(3);
  for (const size_t n : {513, 514, 640, 641, 700, 1023, 1025, 2000, 4099, 20'000}) {
    std::vector<T> mixed(n), few(n), falling(n);
    for (size_t i = 0; i < n; ++i) {
      mixed[i] = static_cast<T>(static_cast<int64_t>(random()));
      few[i] = static_cast<T>(random() % 5);
      falling[i] = static_cast<T>(n - i);
    }
    for (const std::vector<T>& data : {mixed, few, falling, std::vector<T>(n, std::numeric_limits<T>::max())}) {
      std::vector<T> wanted = data;
      std::sort(wanted.begin(), wanted.end());
      EXPECT_EQ(Sorted(data, dtype), wanted) << n;
    }
  }
}

TEST(Sort, OfEveryLength) {
  ExpectSortedInAnyLength<float>(WF_F32);
  ExpectSortedInAnyLength<double>(WF_F64);
  ExpectSortedInAnyLength<int32_t>(WF_I32);
  ExpectSortedInAnyLength<uint32_t>(WF_U32);
  ExpectSortedInAnyLength<int64_t>(WF_I64);
  ExpectSortedInAnyLength<uint64_t>(WF_U64);
}

std::vector<SortVectors> VectorsOfThisCpu() {
  std::vector<SortVectors> has;
  for (const SortVectors each : {SortVectors::kAvx2, SortVectors::kAvx512}) {
    if (each <= VectorsToSort()) has.push_back(each);
  }
  return has;
}

template <typename Key>
void ExpectKeysSorted(const std::vector<Key>& data, SortVectors by) {
  FakeJob job;
  std::vector<Key> wanted = data, keys = data, spare(data.size());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_TRUE(SortKeys(&job.ctx, std::span(keys), spare.data(), by));
  EXPECT_EQ(keys, wanted) << data.size();
}

TEST(SortKeys, SortsWhatFitsIntoVectorsAndMore) {
  for (const SortVectors by : VectorsOfThisCpu()) {
    std::mt19937_64 random(4);
    for (size_t n = 0; n < 600; n += n < 300 ? 1 : 17) {
      std::vector<int32_t> keys(n);
      std::vector<int64_t> long_keys(n);
      for (size_t i = 0; i < n; ++i)
        long_keys[i] = static_cast<int64_t>(random()) >> (i % 64), keys[i] = static_cast<int32_t>(long_keys[i]);
      ExpectKeysSorted(keys, by);
      ExpectKeysSorted(long_keys, by);
    }
  }
}

TEST(SortKeys, SortsManyOfEveryKind) {
  constexpr int64_t kFew[] = {0, INT64_MAX, -2};
  for (const SortVectors by : VectorsOfThisCpu()) {
    std::mt19937_64 random(5);
    for (const size_t n : {641, 1023, 2048, 4099, 20'000}) {
      std::vector<int64_t> mixed(n), few(n), rising(n), least(n, INT64_MIN), most(n, INT64_MAX);
      for (size_t i = 0; i < n; ++i) {
        mixed[i] = static_cast<int64_t>(random());
        few[i] = kFew[random() % std::size(kFew)];
        rising[i] = static_cast<int64_t>(i);
      }
      for (const std::vector<int64_t>& data : {mixed, few, rising, least, most}) {
        ExpectKeysSorted(data, by);
        ExpectKeysSorted(std::vector<int32_t>(data.begin(), data.end()), by);
      }
    }
  }
}

// Of each part that is left, the keys among which a pivot is looked for are the smallest: it is nearly the least of all, and the part gets
// shorter by a few. Numbers of places go the way that keys would go.
std::vector<int32_t> SlowToSort(size_t n, size_t lanes) {
  std::vector<int32_t> keys(n, INT32_MAX);
  std::vector<size_t> left(n);
  std::iota(left.begin(), left.end(), size_t{0});
  for (int32_t next = 0; left.size() > 16 * lanes;) {
    const size_t samples = left.size() < 64 * lanes ? 16 : 32;
    std::vector<int32_t> some;
    for (size_t i = 0; i < samples; ++i) {
      int32_t& key = keys[left[i * (left.size() / samples)]];
      if (key == INT32_MAX) key = next++;
      some.push_back(key);
    }
    std::sort(some.begin(), some.end());
    std::vector<size_t> others;
    for (const size_t place : left) {
      if (keys[place] >= some[samples / 2]) others.push_back(place);
    }
    left = std::move(others);
  }
  return keys;
}

TEST(SortKeys, GivesUpWhereItWouldTakeLong) {
  for (const SortVectors by : VectorsOfThisCpu()) {
    const std::vector<int32_t> data = SlowToSort(4096, by == SortVectors::kAvx512 ? 16 : 8);
    FakeJob job;
    std::vector<int32_t> keys = data, spare(keys.size());
    EXPECT_FALSE(SortKeys(&job.ctx, std::span(keys), spare.data(), by));
    std::vector<int32_t> wanted = data;
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(Sorted(data, WF_I32), wanted) << "by digits";
  }
}

TEST(Sort, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) { ExpectItFailsWithoutMemoryAndStops(wf_n_sort); }

}  // namespace
}  // namespace wf::nodes
