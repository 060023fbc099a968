#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

struct Point {  // {x: f32?, names: list<string>}
  float x;
  uint8_t has;
  wf_list names;
};
enum : uint16_t { kF32, kF64, kI64, kF16, kString, kStrings, kOptional, kPoint, kOfType = 10 };  // kOfType + t: a list of t

const wf_field kFields[] = {{.name = {}, .offset = offsetof(Point, x), .type = kOptional},
                            {.name = {}, .offset = offsetof(Point, names), .type = kStrings}};

std::vector<wf_type> Table() {
  std::vector<wf_type> table(kOfType + kOfType);
  const auto scalar = [](uint8_t dtype, uint32_t size) {
    return wf_type{.kind = WF_T_SCALAR, .dtype = dtype, .size = size, .align = size};
  };
  table[kF32] = scalar(WF_F32, 4);
  table[kF64] = scalar(WF_F64, 8);
  table[kI64] = scalar(WF_I64, 8);
  table[kF16] = scalar(WF_F16, 2);
  table[kString] = {.kind = WF_T_STRING, .size = sizeof(wf_bytes), .align = 8};
  table[kStrings] = {.kind = WF_T_LIST, .element = kString, .size = sizeof(wf_list), .align = 8};
  table[kOptional] = {.kind = WF_T_OPTIONAL, .element = kF32, .size = 8, .align = 4, .has_offset = 4};
  table[kPoint] = {.kind = WF_T_RECORD, .n_fields = 2, .size = sizeof(Point), .align = 8, .fields = kFields};
  for (uint16_t type = 0; type < kOfType; ++type)
    table[kOfType + type] = {.kind = WF_T_LIST, .element = type, .size = sizeof(wf_list), .align = 8};
  return table;
}

template <typename T>
std::vector<int64_t> FirstEqual(uint16_t type, std::vector<T> xs) {
  FakeJob job;
  const std::vector<wf_type> table = Table();
  const wf_list list{xs.data(), xs.size()};
  wf_tensor first{};
  EXPECT_EQ(wf_n_first_equal(&job.ctx, &list, table.data(), kOfType + type, &first), 0) << job.message;
  return Elements<int64_t>(first);
}

using Places = std::vector<int64_t>;

TEST(FirstEqual, IsThePlaceOfTheFirstOneThatIsEqual) {
  EXPECT_EQ(FirstEqual<int64_t>(kI64, {7, 8, 7, 7, 9, 8}), (Places{0, 1, 0, 0, 4, 1}));
  EXPECT_EQ(FirstEqual<int64_t>(kI64, {}), Places());
  EXPECT_EQ(FirstEqual<wf_bytes>(kString, {View("a"), View(""), View("ab"), View("a"), View("")}), (Places{0, 1, 2, 0, 1}));
}

TEST(FirstEqual, OfFloatsGoesByTheirValue) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(FirstEqual<float>(kF32, {0, nan, -0.0F, nan, 1}), (Places{0, 1, 0, 3, 4}));
  EXPECT_EQ(FirstEqual<double>(kF64, {0.1, -0.0, 0.1, 0}), (Places{0, 1, 0, 1}));
  EXPECT_EQ(FirstEqual<uint16_t>(kF16, {0x8000, 0x7e00, 0x0000, 0x7e00}), (Places{0, 1, 0, 3}));
}

TEST(FirstEqual, OfWhatHasPartsLooksAtAll) {
  std::vector<wf_bytes> ab{View("a"), View("b")}, ba{View("b"), View("a")}, again{View("a"), View("b")};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const wf_list x{ab.data(), 2}, y{ba.data(), 2}, z{again.data(), 2};
  EXPECT_EQ(FirstEqual<wf_list>(kStrings, {x, y, z, {nullptr, 0}, {nullptr, 0}}), (Places{0, 1, 0, 3, 3}));
  EXPECT_EQ(FirstEqual<Point>(kPoint, {{1, 1, x}, {1, 0, x}, {2, 0, z}, {1, 1, z}, {nan, 1, x}, {nan, 1, x}}), (Places{0, 1, 1, 0, 4, 5}));
}

// The time for all of them is that for each: no pair of elements is compared but those that are equal.
TEST(FirstEqual, OfManyTakesTimeForEachAlone) {
  constexpr int64_t kMany = 1'000'000;
  std::vector<int64_t> distinct, same(kMany, 5);
  for (int64_t i = 0; i < kMany; ++i) distinct.push_back(i * 1024);
  EXPECT_EQ(FirstEqual(kI64, distinct).back(), kMany - 1);
  EXPECT_EQ(FirstEqual(kI64, same).back(), 0);
  EXPECT_EQ(FirstEqual(kF64, std::vector<double>(kMany, std::nan(""))).back(), kMany - 1);
}

TEST(FirstEqual, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) {
  std::vector<wf_bytes> xs(3, View("a"));
  const wf_list list{xs.data(), xs.size()};
  const std::vector<wf_type> table = Table();
  wf_tensor first{};
  FakeJob poor;
  poor.budget = 64;
  EXPECT_EQ(wf_n_first_equal(&poor.ctx, &list, table.data(), kOfType + kString, &first), WF_FAILED);
  EXPECT_EQ(poor.code, 3012);
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(wf_n_first_equal(&abandoned.ctx, &list, table.data(), kOfType + kString, &first), WF_FAILED);
  EXPECT_EQ(abandoned.code, 0);
}

}  // namespace
}  // namespace wf::nodes
