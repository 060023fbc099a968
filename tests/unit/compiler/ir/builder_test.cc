#include "compiler/ir/builder.h"

#include <gtest/gtest.h>

#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"

namespace wf::ir {
namespace {

TEST(Builder, FoldsConstantsSoThatExtentsStayStatic) {
  Program program;
  Body body;
  Builder b(program, body);
  const ValueId extent = b.Add(b.Mul(b.I64(4), b.I64(7)), b.I64(0));
  b.Open({b.ScalarType(DType::kI64)});
  b.Close(b.Convert(b.Param(0), DType::kF32));
  const ValueId tensor = b.Build(DType::kF32, {extent}, BlockId{1});
  b.Close(b.Dim(tensor, 0));
  EXPECT_EQ(program.types.ToString(b.TypeOf(tensor)), "f32[28]");
  EXPECT_TRUE(b.IsConstant(body.blocks[0].result, 28));
  EXPECT_EQ(VerifyBody(program, body), std::nullopt);
}

TEST(Builder, PutsConstantsOfNestedBlocksIntoTheEntry) {
  Program program;
  program.slots = {{.name = "x", .type = program.types.Tensor(DType::kU8, {-1})}};
  Body body;
  Builder b(program, body);
  const ValueId x = b.Slot(SlotId{0});
  const ValueId n = b.Dim(x, 0);
  const BlockId block = b.Open({b.ScalarType(DType::kI64)});
  b.Close(b.Binary(OpKind::kDiv, b.Convert(b.Load(x, {b.Param(0)}), DType::kF32), b.F32(255)));
  b.Close(b.Build(DType::kF32, {n}, block));
  EXPECT_EQ(VerifyBody(program, body), std::nullopt);
  EXPECT_EQ(PrintBody(program, body),
            "%0: u8[_] = slot @0 x\n"
            "%1: i64 = dim 0 %0\n"
            "%2: f32 = scalar 255\n"
            "%3: f32[_] = build %1 { %4 =>\n"
            "  %5: u8 = load %0, %4\n"
            "  %6: f32 = convert %5\n"
            "  %7: f32 = div %6, %2\n"
            "  yield %7\n"
            "}\n"
            "yield %3\n");
}

TEST(Builder, DoesNotFoldFloatsInexactly) {
  Program program;
  program.slots = {{.name = "x", .type = program.types.Scalar(DType::kF32)}};
  Body body;
  Builder b(program, body);
  const ValueId x = b.Slot(SlotId{0});
  EXPECT_NE(b.Add(x, b.F32(0)), x);  // -0 + 0 is 0
  EXPECT_NE(b.Sub(x, x), b.F32(0));  // infinity
  EXPECT_EQ(b.IsConstant(b.Binary(OpKind::kDiv, b.F32(1), b.F32(3))), true);
}

}  // namespace
}  // namespace wf::ir
