#include "compiler/ir/bounds.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace wf::ir {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kMemory = int64_t{1} << 40;

// A body over a tensor `x`, and scalars of which nothing is known.
class BoundsTest : public testing::Test {
 protected:
  BoundsTest() : b_(program_, body_) {}
  ValueId Any(DType dtype = DType::kI64) { return b_.Emit(OpKind::kMeta, b_.ScalarType(dtype), {}); }
  ValueId Extent() { return b_.Dim(b_.Emit(OpKind::kNative, b_.types().Tensor(DType::kF32, {-1})), 0); }
  std::pair<int64_t, int64_t> Of(ValueId value) {
    const Bounds bounds = BoundsOf(b_, counters_, value);
    return {bounds.least, bounds.most};
  }
  ValueId Min(ValueId a, int64_t b) { return b_.Binary(OpKind::kMin, a, b_.I64(b)); }
  ValueId Max(ValueId a, int64_t b) { return b_.Binary(OpKind::kMax, a, b_.I64(b)); }

  Program program_;
  Body body_;
  Builder b_;
  Counters counters_;
};
using Pair = std::pair<int64_t, int64_t>;

TEST_F(BoundsTest, OfTypes) {
  EXPECT_EQ(Of(Any()), Pair(kLeast, kMost));
  EXPECT_EQ(Of(Any(DType::kU8)), Pair(0, 255));
  EXPECT_EQ(Of(Any(DType::kI16)), Pair(-32768, 32767));
  EXPECT_EQ(Of(Any(DType::kU32)), Pair(0, 4294967295));
  EXPECT_EQ(Of(Any(DType::kU64)), Pair(kLeast, kMost));
}

TEST_F(BoundsTest, OfWhatHasMemory) {
  EXPECT_EQ(Of(Extent()), Pair(0, kMemory));
  EXPECT_EQ(Of(b_.Add(Extent(), Extent())), Pair(0, 2 * kMemory));
  EXPECT_EQ(Of(b_.Sub(Extent(), b_.I64(1))), Pair(-1, kMemory - 1));
}

TEST_F(BoundsTest, OfCounters) {
  b_.Open({b_.ScalarType(DType::kI64), b_.ScalarType(DType::kI64), b_.ScalarType(DType::kI64)});
  counters_ = {{b_.Param(0), b_.I64(4)}, {b_.Param(1), Any()}};
  EXPECT_EQ(Of(b_.Param(0)), Pair(0, 3));
  EXPECT_EQ(Of(b_.Param(1)), Pair(0, kMost - 1));
  EXPECT_EQ(Of(b_.Param(2)), Pair(kLeast, kMost));
  EXPECT_EQ(Of(b_.Add(b_.Param(1), b_.I64(1))), Pair(1, kMost));
  EXPECT_EQ(Of(b_.Add(b_.Param(1), b_.I64(2))), Pair(kLeast, kMost));  // wraps
}

TEST_F(BoundsTest, OfChoices) {
  EXPECT_EQ(Of(Min(Max(Any(), 0), 9)), Pair(0, 9));
  EXPECT_EQ(Of(Max(Min(Any(), 9), -2)), Pair(-2, 9));
  EXPECT_EQ(Of(Max(Any(), 3)), Pair(3, kMost));
  EXPECT_EQ(Of(b_.Select(Any(DType::kBool), b_.I64(7), Min(Max(Any(), 0), 2))), Pair(0, 7));
}

TEST_F(BoundsTest, OfChecks) {
  EXPECT_EQ(Of(b_.CheckIndex(Any(), b_.I64(5))), Pair(0, 4));
  EXPECT_EQ(Of(b_.CheckIndex(Any(), b_.I64(0))), Pair(0, 0));
  EXPECT_EQ(Of(b_.Emit(OpKind::kCheckDivisor, b_.ScalarType(DType::kI64), {Min(Max(Any(), -3), 0)})), Pair(-3, 1));
}

TEST_F(BoundsTest, OfArithmetic) {
  const ValueId digit = Min(Max(Any(), 0), 9), either = Min(Max(Any(), -5), 9);
  EXPECT_EQ(Of(b_.Mul(digit, b_.I64(-3))), Pair(-27, 0));
  EXPECT_EQ(Of(b_.Mul(either, either)), Pair(-45, 81));
  EXPECT_EQ(Of(b_.Mul(digit, b_.I64(kLeast))), Pair(kLeast, kMost));
  EXPECT_EQ(Of(b_.Binary(OpKind::kDiv, digit, b_.I64(2))), Pair(0, 4));
  EXPECT_EQ(Of(b_.Binary(OpKind::kDiv, either, b_.I64(-1))), Pair(-9, 9));
  EXPECT_EQ(Of(b_.Binary(OpKind::kDiv, Any(), b_.I64(2))), Pair(kLeast, kMost));  // of the least by -1 it is the least
  EXPECT_EQ(Of(b_.Binary(OpKind::kRem, Any(), b_.I64(10))), Pair(-9, 9));
  EXPECT_EQ(Of(b_.Binary(OpKind::kRem, digit, Any())), Pair(0, 9));
  EXPECT_EQ(Of(b_.Binary(OpKind::kRem, Any(), b_.I64(kLeast))), Pair(kLeast + 1, kMost));
}

TEST_F(BoundsTest, OfFewerBits) {
  EXPECT_EQ(Of(b_.Convert(Any(DType::kU16), DType::kI64)), Pair(0, 65535));
  EXPECT_EQ(Of(b_.Convert(Any(DType::kU32), DType::kI32)), Pair(-2147483648LL, 2147483647));
  EXPECT_EQ(Of(b_.Convert(Min(Max(Any(), 0), 9), DType::kU8)), Pair(0, 9));
  EXPECT_EQ(Of(b_.Convert(Min(Max(Any(), 0), 256), DType::kU8)), Pair(0, 255));
  EXPECT_EQ(Of(b_.Convert(Any(DType::kU64), DType::kI64)), Pair(kLeast, kMost));
  EXPECT_EQ(Of(b_.Convert(Any(DType::kF32), DType::kI64)), Pair(kLeast, kMost));
  const ValueId wide = b_.Convert(Any(DType::kU16), DType::kI32);
  EXPECT_EQ(Of(b_.Mul(wide, b_.Scalar(DType::kI32, 2))), Pair(0, 131070));
  EXPECT_EQ(Of(b_.Mul(wide, b_.Scalar(DType::kI32, 65536))), Pair(-2147483648LL, 2147483647));
}

}  // namespace
}  // namespace wf::ir
