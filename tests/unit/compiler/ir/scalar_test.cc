#include "compiler/ir/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace wf::ir {
namespace {

uint64_t I32(int32_t value) { return static_cast<uint32_t>(value); }

TEST(EvaluateScalar, WrapsIntegers) {
  EXPECT_EQ(EvaluateScalar(OpKind::kAdd, DType::kI32, I32(INT32_MAX), 1), I32(INT32_MIN));
  EXPECT_EQ(EvaluateScalar(OpKind::kMul, DType::kU32, 0x80000000u, 2), 0u);
  EXPECT_EQ(EvaluateScalar(OpKind::kDiv, DType::kI32, I32(INT32_MIN), I32(-1)), I32(INT32_MIN));
  EXPECT_EQ(EvaluateScalar(OpKind::kRem, DType::kI32, I32(INT32_MIN), I32(-1)), 0u);
  EXPECT_EQ(EvaluateScalar(OpKind::kDiv, DType::kI32, I32(-7), I32(2)), I32(-3));
  EXPECT_EQ(EvaluateScalar(OpKind::kAbs, DType::kI32, I32(INT32_MIN)), I32(INT32_MIN));
  EXPECT_EQ(EvaluateScalar(OpKind::kShr, DType::kI32, I32(-8), 33), I32(-4));
}

TEST(EvaluateScalar, MinAndMaxKeepNanAndOrderZeros) {
  const uint64_t nan = F32Bits(NAN), one = F32Bits(1), minus_zero = F32Bits(-0.0f), zero = F32Bits(0);
  EXPECT_TRUE(std::isnan(F32Of(EvaluateScalar(OpKind::kMin, DType::kF32, one, nan))));
  EXPECT_TRUE(std::isnan(F32Of(EvaluateScalar(OpKind::kMax, DType::kF32, nan, one))));
  EXPECT_EQ(EvaluateScalar(OpKind::kMin, DType::kF32, zero, minus_zero), minus_zero);
  EXPECT_EQ(EvaluateScalar(OpKind::kMax, DType::kF32, minus_zero, zero), zero);
}

TEST(ScalarFunctionOf, IsThereForWideTypesAndForWhatLooksAtBitsAlone) {
  for (const DType wide : {DType::kI32, DType::kI64, DType::kU32, DType::kU64, DType::kF32, DType::kF64})
    for (const OpKind kind : {OpKind::kAdd, OpKind::kRem, OpKind::kMin, OpKind::kRint, OpKind::kLe})
      EXPECT_NE(ScalarFunctionOf(kind, wide), nullptr) << InfoOf(kind).name << " " << NameOf(wide);
  EXPECT_NE(ScalarFunctionOf(OpKind::kSelect, DType::kBf16), nullptr);
  EXPECT_EQ(ScalarFunctionOf(OpKind::kAdd, DType::kU8), nullptr);
  EXPECT_EQ(ScalarFunctionOf(OpKind::kShl, DType::kF32), nullptr);
  EXPECT_EQ(ScalarFunctionOf(OpKind::kConvert, DType::kI64), nullptr);
}

TEST(ConvertScalar, SaturatesFloatsToIntegers) {
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kU8, F32Bits(300)), 255u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kU8, F32Bits(-3)), 0u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kI8, F32Bits(-300)), 0x80u);
  EXPECT_EQ(ConvertScalar(DType::kF64, DType::kI64, F64Bits(1e300)), uint64_t{INT64_MAX});
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kI32, F32Bits(NAN)), 0u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kI32, F32Bits(-1.9f)), I32(-1));
  EXPECT_EQ(ConvertScalar(DType::kI64, DType::kU8, 511), 255u);
  EXPECT_EQ(ConvertScalar(DType::kF64, DType::kBool, F64Bits(0.5)), 1u);
}

TEST(ConvertScalar, RoundsHalvesToEvenAndBack) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const uint64_t wide = ConvertScalar(DType::kF16, DType::kF32, half);
    if (std::isnan(F32Of(wide))) continue;
    EXPECT_EQ(ConvertScalar(DType::kF32, DType::kF16, wide), half);
  }
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kF16, F32Bits(65520)), 0x7c00u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kF16, F32Bits(65519)), 0x7bffu);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kF16, F32Bits(1 + 0x1p-11f)), 0x3c00u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kF16, F32Bits(1 + 0x1.8p-10f)), 0x3c02u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kF16, F32Bits(0x1p-25f)), 0u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kBf16, 0x3f808000u), 0x3f80u);
  EXPECT_EQ(ConvertScalar(DType::kF32, DType::kBf16, 0x3f818000u), 0x3f82u);
}

TEST(ScalarText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(ScalarText(DType::kF32, F32Bits(0.1f)), "0.1");
  EXPECT_EQ(ScalarText(DType::kF32, F32Bits(1)), "1");
  EXPECT_EQ(ScalarText(DType::kF32, F32Bits(1e5F)), "100000");
  EXPECT_EQ(ScalarText(DType::kF64, F64Bits(1e5)), "100000");
  EXPECT_EQ(ScalarText(DType::kF64, F64Bits(-std::numeric_limits<double>::infinity())), "-inf");
  EXPECT_EQ(ScalarText(DType::kF32, F32Bits(-NAN)), "nan");
  EXPECT_EQ(ScalarText(DType::kI32, I32(-5)), "-5");
  EXPECT_EQ(ScalarText(DType::kU64, ~uint64_t{0}), "18446744073709551615");
}

}  // namespace
}  // namespace wf::ir
