#include "runtime/workbench/agree.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"

namespace wf::workbench {
namespace {

template <typename T>
Tensor Of(uint8_t dtype, const std::vector<T>& numbers) {
  auto tensor = MakeTensor(dtype, {static_cast<int64_t>(numbers.size())});
  std::memcpy(tensor->elements.get(), numbers.data(), sizeof(T) * numbers.size());
  return *std::move(tensor);
}
std::string Why(const std::vector<float>& is, const std::vector<float>& wanted) {
  return WhyDifferent(Of(WF_F32, is), Of(WF_F32, wanted), {});
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();

TEST(Agree, FloatsMayDifferByTheTolerance) {
  EXPECT_EQ(Why({1, 1000, 0}, {1.0005F, 1000.9F, 5e-8F}), "");
  EXPECT_EQ(Why({1, 2, 3}, {1, 2.1F, 4}), "element [1] is 2, expected 2.1; 2 of 3 differ");
  EXPECT_EQ(Why({1e-6F}, {0}), "element [0] is 1e-06, expected 0");
}

TEST(Agree, Bf16MayBeCutWhereItIsRounded) {
  EXPECT_EQ(WhyDifferent(Of<uint16_t>(WF_BF16, {0x3ef6}), Of<uint16_t>(WF_BF16, {0x3ef5}), {}), "");
  EXPECT_NE(WhyDifferent(Of<uint16_t>(WF_BF16, {0x3ef8}), Of<uint16_t>(WF_BF16, {0x3ef5}), {}), "");
}

TEST(Agree, NaNIsNaNAndInfinitiesHaveASign) {
  EXPECT_EQ(Why({kNaN, kInf, -kInf, 0.0F}, {kNaN, kInf, -kInf, -0.0F}), "");
  EXPECT_EQ(Why({kInf}, {-kInf}), "element [0] is inf, expected -inf");
  EXPECT_EQ(Why({1}, {kInf}), "element [0] is 1, expected inf");
  EXPECT_EQ(Why({kNaN}, {1}), "element [0] is nan, expected 1");
  EXPECT_EQ(Why({1}, {kNaN}), "element [0] is 1, expected nan");
}

TEST(Agree, IntegersAreExact) {
  const int64_t big = int64_t{1} << 60;  // the next number is the same double
  EXPECT_EQ(WhyDifferent(Of<int64_t>(WF_I64, {big}), Of<int64_t>(WF_I64, {big}), {}), "");
  EXPECT_EQ(WhyDifferent(Of<int64_t>(WF_I64, {big}), Of<int64_t>(WF_I64, {big + 1}), {}),
            "element [0] is 1152921504606846976, expected 1152921504606846977");
  EXPECT_EQ(WhyDifferent(Of<uint8_t>(WF_BOOL, {1}), Of<uint8_t>(WF_BOOL, {0}), {}), "element [0] is true, expected false");
}

TEST(Agree, TypesAndShapesAreTheSame) {
  EXPECT_EQ(Why({1}, {1, 2}), "it is f32[1], expected f32[2]");
  EXPECT_EQ(WhyDifferent(Of<int8_t>(WF_I8, {1}), Of<uint8_t>(WF_U8, {1}), {}), "it is i8[1], expected u8[1]");
}

TEST(Agree, TheLargestDifferencesAreOfAllElements) {
  const Difference found = Compare(Of<float>(WF_F32, {1, 10, 4}), Of<float>(WF_F32, {2, 9, 4}), {});
  EXPECT_EQ(found.differ, 2);
  EXPECT_EQ(found.max_absolute, 1);
  EXPECT_EQ(found.max_relative, 0.5);
}

}  // namespace
}  // namespace wf::workbench
