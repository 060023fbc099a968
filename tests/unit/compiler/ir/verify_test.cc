#include "compiler/ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/ir/builder.h"

namespace wf::ir {
namespace {

using testing::HasSubstr;

TEST(VerifyBody, RefusesValuesOfAnotherBlock) {
  Program program;
  Body body;
  Builder b(program, body);
  const TypeId i64 = b.ScalarType(DType::kI64);
  const BlockId block = b.Open({i64});
  const ValueId inside = b.Add(b.Param(0), b.I64(1));
  b.Close(b.Param(0));
  b.Build(DType::kI64, {b.I64(2)}, block);
  b.Close(b.Emit(OpKind::kAdd, i64, {inside, inside}));
  EXPECT_THAT(VerifyBody(program, body).value_or(""), HasSubstr("not visible"));
}

TEST(VerifyBody, RefusesMixedDtypes) {
  Program program;
  Body body;
  Builder b(program, body);
  b.Close(b.Emit(OpKind::kAdd, b.ScalarType(DType::kI64), {b.I64(2), b.F32(1)}));
  EXPECT_THAT(VerifyBody(program, body).value_or(""), HasSubstr("dtype"));
}

TEST(VerifyBody, RefusesEffectsInTensorBlocks) {
  Program program;
  Body body;
  Builder b(program, body);
  const BlockId block = b.Open({b.ScalarType(DType::kI64)});
  const BlockId message = b.Open({});
  b.Close(b.Text("no"));
  b.FailIf(b.Bool(true), 5000, message);
  b.Close(b.Param(0));
  b.Close(b.Build(DType::kI64, {b.I64(2)}, block));
  EXPECT_THAT(VerifyBody(program, body).value_or(""), HasSubstr("effect inside a tensor block"));
}

TEST(Verify, RefusesABodyThatReadsASlotItDoesNotWaitFor) {
  Program program;
  program.slots = {{.name = "x", .type = program.types.Scalar(DType::kI64), .region = RegionId{0}}};
  program.regions.push_back({.tasks = {TaskId{0}}, .slots = {SlotId{0}}});
  program.tasks.push_back({.kind = TaskKind::kRun, .region = RegionId{0}});
  Builder b(program, program.tasks[0].body);
  b.Close(b.Slot(SlotId{0}));
  EXPECT_THAT(Verify(program).value_or(""), HasSubstr("not among its inputs"));
  program.tasks[0].in = {SlotId{0}};
  EXPECT_EQ(Verify(program), std::nullopt);
}

}  // namespace
}  // namespace wf::ir
