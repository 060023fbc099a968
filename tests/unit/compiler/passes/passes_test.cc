#include "compiler/passes/passes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/passes/fixture.h"

namespace wf::passes {
namespace {

using ir::BlockId;
using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::ValueId;
using testing::HasSubstr;
using testing::Not;

// x[i] op constant, over all of x.
ValueId MapConstant(Builder& b, ValueId x, OpKind kind, float c) {
  const ValueId n = b.Dim(x, 0);
  const BlockId block = b.Open(Integers(b, 1));
  b.Close(b.Binary(kind, b.Load(x, {b.Param(0)}), b.F32(c)));
  return b.Build(DType::kF32, {n}, block);
}

TEST(Fold, DividesByAPowerOfTwoAsAProductAndKeepsOtherDivisions) {
  Fixture f;
  Builder b(f.program, f.body());
  b.Close(MapConstant(b, MapConstant(b, b.Slot(ir::SlotId{0}), OpKind::kDiv, 256), OpKind::kDiv, 255));
  Fold(f.program);
  EXPECT_THAT(f.Text(), HasSubstr("scalar 0.00390625"));
  EXPECT_THAT(f.Text(), HasSubstr("mul"));
  EXPECT_THAT(f.Text(), HasSubstr("div"));
}

TEST(Fold, GivesEqualOperationsOneValueWithinTheirScope) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId s = b.Slot(ir::SlotId{1});
  const ValueId first = b.Emit(OpKind::kMul, b.TypeOf(s), {s, s}), second = b.Emit(OpKind::kMul, b.TypeOf(s), {s, s});
  b.Close(b.Emit(OpKind::kSub, b.TypeOf(s), {first, second}));
  Fold(f.program);
  EXPECT_THAT(f.Text(), HasSubstr("yield %"));
  EXPECT_THAT(f.Text(), HasSubstr("scalar 0"));
}

TEST(Fold, ComputesBothArmsOfACheapIf) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId s = b.Slot(ir::SlotId{1}), condition = b.Binary(OpKind::kLt, s, b.I64(3));
  const BlockId then = b.Open({});
  b.Close(b.Add(s, b.I64(1)));
  const BlockId otherwise = b.Open({});
  b.Close(b.Mul(s, b.I64(2)));
  b.Close(b.If(condition, b.TypeOf(s), then, otherwise));
  Fold(f.program);
  EXPECT_THAT(f.Text(), HasSubstr("select"));
  EXPECT_THAT(f.Text(), Not(HasSubstr("if")));
}

TEST(RemoveDead, KeepsChecksAndDropsTheRest) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId s = b.Slot(ir::SlotId{1});
  b.Mul(s, s);
  b.CheckIndex(s, b.I64(4));
  b.Close(s);
  RemoveDead(f.program);
  EXPECT_THAT(f.Text(), HasSubstr("check_index"));
  EXPECT_THAT(f.Text(), Not(HasSubstr("mul")));
}

TEST(Fuse, MakesAChainOneLoop) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId scaled = MapConstant(b, b.Slot(ir::SlotId{0}), OpKind::kMul, 3), shifted = MapConstant(b, scaled, OpKind::kAdd, 1);
  b.Close(MapConstant(b, shifted, OpKind::kMin, 9));
  Fuse(f.program);
  EXPECT_EQ(f.Text(),
            "%0: f32[_] = slot @0 x\n"
            "%1: i64 = dim 0 %0\n"
            "%2: f32 = scalar 3\n"
            "%3: f32 = scalar 1\n"
            "%4: f32 = scalar 9\n"
            "%5: f32[_] = build %1 { %6 =>\n"
            "  %7: f32 = load %0, %6\n"
            "  %8: f32 = mul %7, %2\n"
            "  %9: f32 = add %8, %3\n"
            "  %10: f32 = min %9, %4\n"
            "  yield %10\n"
            "}\n"
            "yield %5\n");
}

// The check of the first loop is told before the effect: with one between them, the loops stay two.
TEST(Fuse, MovesNoCheckBehindAnEffect) {
  for (const bool has_effect : {false, true}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1}), n = b.Dim(x, 0);
    const BlockId checked = b.Open(Integers(b, 1));
    b.Close(b.Load(x, {b.CheckIndex(b.Add(b.Param(0), s), n)}));
    const ValueId first = b.Build(DType::kF32, {n}, checked);
    if (has_effect) {
      const BlockId message = b.Open({});
      b.Close(b.Text("no"));
      b.FailIf(b.Binary(OpKind::kLt, s, b.I64(0)), 5000, message);
    }
    const BlockId twice = b.Open(Integers(b, 1));
    const ValueId element = b.Load(first, {b.Param(0)});
    b.Close(b.Add(element, element));
    b.Close(b.Build(DType::kF32, {n}, twice));
    Fuse(f.program);
    const std::string text = f.Text();
    EXPECT_EQ(text.find("build") != text.rfind("build"), has_effect) << text;
  }
}

// Of nothing there is no element 0 that another tensor could be read for.
TEST(Fuse, KeepsApartWhatAnIndexOrZeroReads) {
  for (const OpKind kind : {OpKind::kMax, OpKind::kIndexOrZero}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId s = b.Slot(ir::SlotId{1}), scaled = MapConstant(b, b.Slot(ir::SlotId{0}), OpKind::kMul, 3);
    const BlockId block = b.Open(Integers(b, 1));
    b.Close(b.Load(scaled, {b.Binary(kind, b.Param(0), s)}));
    b.Close(b.Build(DType::kF32, {b.I64(5)}, block));
    Fuse(f.program);
    const std::string text = f.Text();
    EXPECT_EQ(text.find("build") != text.rfind("build"), kind == OpKind::kIndexOrZero) << text;
  }
}

// exp(x) read by a sum and by a quotient: computed once, as a tensor.
TEST(Fuse, StoresWhatIsDearAndReadTwice) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
  const BlockId exp = b.Open(Integers(b, 1));
  b.Close(b.Unary(OpKind::kExp, b.Load(x, {b.Param(0)})));
  const ValueId weights = b.Build(DType::kF32, {n}, exp);
  const BlockId each = b.Open(Integers(b, 1));
  b.Close(b.Load(weights, {b.Param(0)}));
  const ValueId total = b.Reduce(ir::ReduceKind::kSum, DType::kF32, n, each);
  const BlockId quotient = b.Open(Integers(b, 1));
  b.Close(b.Binary(OpKind::kDiv, b.Load(weights, {b.Param(0)}), total));
  b.Close(b.Build(DType::kF32, {n}, quotient));
  const std::string before = f.Text();
  Fuse(f.program);
  EXPECT_EQ(f.Text(), before);
}

// exp(x) inside a loop that reads all of it for each element of another: stored.
TEST(Fuse, StoresWhatALoopWouldComputeAgain) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
  const BlockId exp = b.Open(Integers(b, 1));
  b.Close(b.Unary(OpKind::kExp, b.Load(x, {b.Param(0)})));
  const ValueId weights = b.Build(DType::kF32, {n}, exp);
  const BlockId outer = b.Open(Integers(b, 1));
  const BlockId inner = b.Open(Integers(b, 1));
  b.Close(b.Load(weights, {b.Param(0)}));
  b.Close(b.Reduce(ir::ReduceKind::kSum, DType::kF32, n, inner));
  b.Close(b.Build(DType::kF32, {b.I64(5)}, outer));
  const std::string before = f.Text();
  Fuse(f.program);
  EXPECT_EQ(f.Text(), before);
}

// [i < 8] => x[i * s], whose index is checked.
ValueId CheckedElements(Builder& b) {
  const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1});
  const BlockId checked = b.Open(Integers(b, 1));
  b.Close(b.Load(x, {b.CheckIndex(b.Mul(b.Param(0), s), b.I64(8))}));
  return b.Build(DType::kF32, {b.I64(8)}, checked);
}

TEST(Fuse, MovesChecksOnlyWhereEveryElementIsRead) {
  for (const int64_t read : {8, 4}) {
    Fixture f({8});
    Builder b(f.program, f.body());
    const ValueId producer = CheckedElements(b);
    const BlockId block = b.Open(Integers(b, 1));
    b.Close(b.Load(producer, {b.Param(0)}));
    b.Close(b.Build(DType::kF32, {b.I64(read)}, block));
    Fuse(f.program);
    const std::string text = f.Text();
    EXPECT_EQ(text.find("build") == text.rfind("build"), read == 8) << text;
  }
}

TEST(Fuse, ReadsBackwardsWhatItMayReadForwards) {
  for (const int64_t last : {7, 8}) {
    Fixture f({8});
    Builder b(f.program, f.body());
    const ValueId producer = CheckedElements(b);
    const BlockId block = b.Open(Integers(b, 1));
    b.Close(b.Load(producer, {b.Sub(b.I64(last), b.Param(0))}));
    b.Close(b.Build(DType::kF32, {b.I64(8)}, block));
    Fuse(f.program);
    const std::string text = f.Text();
    EXPECT_EQ(text.find("build") == text.rfind("build"), last == 7) << text;
  }
}

TEST(Fuse, ReadsThroughAReshapeThatAddsAnAxis) {
  Fixture f({8});
  Builder b(f.program, f.body());
  const ValueId doubled = MapConstant(b, b.Slot(ir::SlotId{0}), OpKind::kMul, 2);
  const ValueId reshaped = b.Reshape(doubled, {b.I64(1), b.I64(8)});
  const BlockId block = b.Open(Integers(b, 2));
  b.Close(b.Binary(OpKind::kAdd, b.Load(reshaped, {b.Param(0), b.Param(1)}), b.F32(1)));
  b.Close(b.Build(DType::kF32, {b.I64(1), b.I64(8)}, block));
  Fuse(f.program);
  EXPECT_THAT(f.Text(), Not(HasSubstr("reshape")));
}

// y[i, column, channel] = sum of x[i, column, channel] over i, in a loop over columns and channels.
ValueId SumOfPixels(Builder& b, bool is_turned) {
  const ValueId x = b.Slot(ir::SlotId{0}), rows = b.Dim(x, 0), columns = b.Dim(x, 1), channels = b.Dim(x, 2);
  b.Open(Integers(b, 2));
  const ValueId column = b.Param(0), channel = is_turned ? b.Sub(b.I64(2), b.Param(1)) : b.Param(1);
  b.Open(Integers(b, 1));
  const BlockId row = b.Close(b.Load(x, {b.Param(0), column, channel}));
  const BlockId block = b.Close(b.Reduce(ir::ReduceKind::kSum, DType::kF32, rows, row));
  return b.Build(DType::kF32, {columns, channels}, block);
}

TEST(MergeAxes, MakesNeighboursOfChannels) {
  Fixture f({-1, -1, 3});
  Builder b(f.program, f.body());
  b.Close(SumOfPixels(b, false));
  MergeAxes(f.program);
  const std::string text = f.Text();
  EXPECT_THAT(text, HasSubstr(": f32[_, _] = reshape"));  // x
  EXPECT_THAT(text, HasSubstr(": f32[_] = build"));
  EXPECT_THAT(text, HasSubstr(": f32[_, 3] = reshape"));  // what comes of it
}

TEST(MergeAxes, LeavesWhatDoesNotReadThemAsTheyLie) {
  Fixture f({-1, -1, 3});
  Builder b(f.program, f.body());
  b.Close(SumOfPixels(b, true));
  const std::string before = f.Text();
  MergeAxes(f.program);
  EXPECT_EQ(f.Text(), before);
  Fixture wide({-1, -1, 300});
  Builder c(wide.program, wide.body());
  c.Close(SumOfPixels(c, false));
  MergeAxes(wide.program);
  EXPECT_THAT(wide.Text(), Not(HasSubstr("reshape")));
}

TEST(MergeAxes, MakesNeighboursOfChannelsThatAreCopiedFromAStart) {
  Fixture f({-1, -1, 3});
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), start = b.Slot(ir::SlotId{1});
  b.Open(Integers(b, 3));
  const ValueId column = b.Add(start, b.Param(1));
  const BlockId block = b.Close(b.Load(x, {b.Param(0), column, b.Param(2)}));
  b.Close(b.Build(DType::kF32, {b.I64(2), b.I64(5), b.I64(3)}, block));
  MergeAxes(f.program);
  const std::string text = f.Text();
  EXPECT_THAT(text, HasSubstr(": f32[2, 15] = build"));
  EXPECT_THAT(text, HasSubstr("mul"));
  EXPECT_THAT(text, HasSubstr(": f32[2, 5, 3] = reshape"));
}

// y[column, channel] = x[0, column - start, channel] from start on, 7 before; or that of a condition which is none of columns alone.
void PadPixels(Fixture& f, bool is_turned) {
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), start = b.Slot(ir::SlotId{1}), columns = b.Dim(x, 1);
  b.Open(Integers(b, 2));
  const ValueId before = b.Binary(OpKind::kLt, b.Param(is_turned ? 1 : 0), start);
  const ValueId column = b.Sub(b.Param(0), start), channel = b.Param(1);
  b.Open({});
  const BlockId fill = b.Close(b.F32(7));
  b.Open({});
  const BlockId copy = b.Close(b.Load(x, {b.I64(0), b.CheckIndex(column, columns), channel}));
  const BlockId block = b.Close(b.If(before, b.ScalarType(DType::kF32), fill, copy));
  b.Close(b.Build(DType::kF32, {b.I64(5), b.I64(3)}, block));
}

TEST(MergeAxes, MakesNeighboursOfChannelsBesideOthersThanAreCopied) {
  Fixture f({-1, -1, 3});
  PadPixels(f, false);
  MergeAxes(f.program);
  const std::string text = f.Text();
  EXPECT_THAT(text, HasSubstr(": f32[15] = build"));
  EXPECT_THAT(text, HasSubstr("check_index"));
  EXPECT_THAT(text, HasSubstr(": f32[5, 3] = reshape"));
  Fixture turned({-1, -1, 3});
  PadPixels(turned, true);
  const std::string before = turned.Text();
  MergeAxes(turned.program);
  EXPECT_EQ(turned.Text(), before);
}

TEST(MergeAxes, LeavesASumThatIsAnElementItself) {
  Fixture f({-1, -1, 2});
  Builder b(f.program, f.body());
  const ValueId start = b.Dim(b.Slot(ir::SlotId{0}), 0), columns = b.Dim(b.Slot(ir::SlotId{0}), 1);
  b.Open(Integers(b, 2));
  const BlockId block = b.Close(b.Add(start, b.Param(0)));
  b.Close(b.Build(DType::kI64, {columns, b.I64(2)}, block));
  const std::string before = f.Text();
  MergeAxes(f.program);
  EXPECT_EQ(f.Text(), before);
}

TEST(Hoist, MovesAReductionOutOfALoop) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
  const BlockId outer = b.Open(Integers(b, 1));
  const ValueId i = b.Param(0);
  const BlockId inner = b.Open(Integers(b, 1));
  b.Close(b.Load(x, {b.Param(0)}));
  const ValueId top = b.Reduce(ir::ReduceKind::kMax, DType::kF32, n, inner);
  b.Close(b.Sub(b.Load(x, {i}), top));
  b.Close(b.Build(DType::kF32, {n}, outer));
  Hoist(f.program);
  const std::string text = f.Text();
  EXPECT_LT(text.find("reduce"), text.find("build"));
}

TEST(Hoist, KeepsChecksInLoopsThatMayNotRun) {
  for (const bool is_static : {true, false}) {
    Fixture f;
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0), s = b.Slot(ir::SlotId{1});
    const BlockId block = b.Open(Integers(b, 1));
    b.Close(b.Load(x, {b.CheckIndex(s, n)}));
    b.Close(b.Build(DType::kF32, {is_static ? b.I64(3) : n}, block));
    Hoist(f.program);
    const std::string text = f.Text();
    EXPECT_EQ(text.find("check_index") < text.find("build"), is_static) << text;
  }
}

// x[y, i64(f32(column) / s)] over `rows` and the columns of x.
ValueId Stretched(Builder& b, ValueId rows) {
  const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1});
  const BlockId block = b.Open(Integers(b, 2));
  const ValueId place = b.Convert(b.Binary(OpKind::kDiv, b.Convert(b.Param(1), DType::kF32), b.Convert(s, DType::kF32)), DType::kI64);
  b.Close(b.Load(x, {b.Param(0), b.CheckIndex(place, b.Dim(x, 1))}));
  return b.Build(DType::kF32, {rows, b.Dim(x, 1)}, block);
}

TEST(Tabulate, MakesARowOfWhatAllRowsCompute) {
  Fixture f({-1, -1});
  Builder b(f.program, f.body());
  b.Close(Stretched(b, b.Dim(b.Slot(ir::SlotId{0}), 0)));
  Tabulate(f.program);
  const std::string text = f.Text();
  const size_t table = text.find("i64[_] = build"), rows = text.find("f32[_, _] = build");
  ASSERT_LT(table, rows) << text;
  ASSERT_NE(rows, std::string::npos) << text;
  EXPECT_GT(text.find("check_index"), table);
  EXPECT_LT(text.rfind("check_index"), rows) << "the rows read the table: " << text;
  EXPECT_LT(text.find("select"), table) << "a table with a check is empty when there are no rows: " << text;
}

TEST(Tabulate, MakesARowOfPixelsWithoutTheirChannels) {
  Fixture f({-1, -1, 3});
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1});
  const BlockId block = b.Open(Integers(b, 3));
  const ValueId place = b.Convert(b.Binary(OpKind::kDiv, b.Convert(b.Param(1), DType::kF32), b.Convert(s, DType::kF32)), DType::kI64);
  b.Close(b.Load(x, {b.Param(0), b.CheckIndex(place, b.Dim(x, 1)), b.Param(2)}));
  b.Close(b.Build(DType::kF32, {b.Dim(x, 0), b.Dim(x, 1), b.I64(3)}, block));
  Tabulate(f.program);
  const std::string text = f.Text();
  const size_t table = text.find("i64[_] = build"), pixels = text.find("f32[_, _, 3] = build");
  ASSERT_LT(table, pixels) << text;
  EXPECT_LT(text.rfind("check_index"), pixels) << text;
}

TEST(Tabulate, LeavesASingleRowAndWhatIsCheap) {
  Fixture single({-1, -1});
  Builder b(single.program, single.body());
  b.Close(Stretched(b, b.I64(1)));
  const std::string before = single.Text();
  Tabulate(single.program);
  EXPECT_EQ(single.Text(), before);

  Fixture cheap({-1, -1});
  Builder c(cheap.program, cheap.body());
  const ValueId x = c.Slot(ir::SlotId{0});
  const BlockId block = c.Open(Integers(c, 2));
  c.Close(c.Mul(c.Load(x, {c.Param(0), c.Param(1)}), c.Convert(c.Add(c.Param(1), c.I64(1)), DType::kF32)));
  c.Close(c.Build(DType::kF32, {c.Dim(x, 0), c.Dim(x, 1)}, block));
  Tabulate(cheap.program);
  EXPECT_EQ(cheap.Text().find("build"), cheap.Text().rfind("build"));
}

// x[row, column] - max - sum, both of the row, the second of what is left of it over the first; the columns are `columns`.
ValueId Normalised(Builder& b, ValueId columns) {
  const ValueId x = b.Slot(ir::SlotId{0});
  const BlockId block = b.Open(Integers(b, 2));
  const ValueId row = b.Param(0), column = b.Param(1);
  const BlockId each = b.Open(Integers(b, 1));
  b.Close(b.Load(x, {row, b.Param(0)}));
  const ValueId most = b.Reduce(ir::ReduceKind::kMax, DType::kF32, b.Dim(x, 1), each);
  const BlockId left = b.Open(Integers(b, 1));
  b.Close(b.Sub(b.Load(x, {row, b.Param(0)}), most));
  const ValueId sum = b.Reduce(ir::ReduceKind::kSum, DType::kF32, b.Dim(x, 1), left);
  b.Close(b.Sub(b.Sub(b.Load(x, {row, column}), most), sum));
  return b.Build(DType::kF32, {b.Dim(x, 0), columns}, block);
}

TEST(Tabulate, ComputesWhatIsOneInAWholeRowOnceARow) {
  Fixture f({-1, -1});
  Builder b(f.program, f.body());
  b.Close(Normalised(b, b.Dim(b.Slot(ir::SlotId{0}), 1)));
  Tabulate(f.program);
  const std::string text = f.Text();
  const size_t rows = text.find("f32[_, _] = build");
  ASSERT_NE(rows, std::string::npos) << text;
  EXPECT_LT(text.rfind("reduce"), rows) << text;
  const size_t first = text.find("reduce");
  EXPECT_EQ(text.rfind("reduce"), text.find("reduce", first + 1)) << "the sum reads the table of the greatest: " << text;

  Fixture single({-1, -1});
  Builder c(single.program, single.body());
  c.Close(Normalised(c, c.I64(1)));
  const std::string before = single.Text();
  Tabulate(single.program);
  EXPECT_EQ(single.Text(), before) << "rows of one element";
}

// x[column, 1] + x[row, 0], of which all rows read the first.
ValueId Columns(Builder& b, ValueId rows) {
  const ValueId x = b.Slot(ir::SlotId{0});
  const BlockId block = b.Open(Integers(b, 2));
  b.Close(b.Add(b.Load(x, {b.Param(1), b.I64(1)}), b.Load(x, {b.Param(0), b.I64(0)})));
  return b.Build(DType::kF32, {rows, b.Dim(x, 0)}, block);
}

TEST(Tabulate, PutsAColumnThatManyRowsReadSideBySide) {
  for (const bool has_many : {true, false}) {
    Fixture f({-1, 4});
    Builder b(f.program, f.body());
    b.Close(Columns(b, has_many ? b.Dim(b.Slot(ir::SlotId{0}), 0) : b.I64(2)));
    Tabulate(f.program);
    const std::string text = f.Text();
    EXPECT_EQ(text.find("f32[_] = build") < text.find("f32[" + std::string(has_many ? "_" : "2") + ", _] = build"), has_many) << text;
  }
  Fixture beside({-1, 1});  // one number a row
  Builder b(beside.program, beside.body());
  const ValueId x = b.Slot(ir::SlotId{0});
  const BlockId block = b.Open(Integers(b, 2));
  b.Close(b.Add(b.Load(x, {b.Param(1), b.I64(0)}), b.Load(x, {b.Param(0), b.I64(0)})));
  b.Close(b.Build(DType::kF32, {b.Dim(x, 0), b.Dim(x, 0)}, block));
  Tabulate(beside.program);
  EXPECT_EQ(beside.Text().find("build"), beside.Text().rfind("build")) << beside.Text();
}

// x[s + i] for 7 indices; in a loop for each s.
void Cut(Fixture& f, bool in_loop) {
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), s = b.Slot(ir::SlotId{1}), n = b.Dim(x, 0);
  if (in_loop) b.Open(Integers(b, 1));
  const ValueId start = in_loop ? b.Param(0) : s;
  const BlockId block = b.Open(Integers(b, 1));
  b.Close(b.Load(x, {b.CheckIndex(b.Add(start, b.Param(0)), n)}));
  const ValueId part = b.Build(DType::kF32, {b.I64(7)}, block);
  if (!in_loop) {
    b.Close(part);
    return;
  }
  const BlockId outer = b.Close(b.Load(part, {b.I64(0)}));
  b.Close(b.Build(DType::kF32, {s}, outer));
}

TEST(SplitChecks, ChecksAWholeAxisBeforeItIsRead) {
  Fixture f;
  Cut(f, false);
  SplitChecks(f.program);
  const std::string text = f.Text();
  EXPECT_THAT(text, HasSubstr("le"));
  EXPECT_THAT(text, HasSubstr("if"));
  EXPECT_EQ(text.find("check_index"), text.rfind("check_index")) << text;  // in one arm
  EXPECT_NE(text.find("build"), text.rfind("build")) << text;
}

TEST(SplitChecks, LeavesBuildsInLoops) {
  Fixture f;
  Cut(f, true);
  const std::string before = f.Text();
  SplitChecks(f.program);
  EXPECT_EQ(f.Text(), before);
}

TEST(EstimateCost, KnowsTheWorkOfANativeOverAStaticTensor) {
  for (const int64_t extent : {int64_t{10}, int64_t{-1}}) {
    Fixture f({extent});
    Builder b(f.program, f.body());
    const ValueId x = b.Slot(ir::SlotId{0});
    b.Close(b.Emit(OpKind::kNative, b.ScalarType(DType::kI64), {x}, ir::AddNative(f.program, "wf_n_argmax")));
    EstimateCost(f.program);
    EXPECT_EQ(f.program.tasks[0].cost_ns_per_unit > 0, extent < 0);
    EXPECT_LT(f.program.tasks[0].cost_ns, 1000);
  }
}

TEST(Run, LeavesNoMathAndFillsCosts) {
  Fixture f;
  Builder b(f.program, f.body());
  const ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
  const BlockId block = b.Open(Integers(b, 1));
  b.Close(b.Unary(OpKind::kTanh, b.Load(x, {b.Param(0)})));
  b.Close(b.Build(DType::kF32, {n}, block));
  std::vector<std::string> ran;
  passes::Run(f.program, [&](std::string_view flag, const ir::Program&) { ran.emplace_back(flag); });
  EXPECT_EQ(ran.size(), AllPasses().size());
  EXPECT_THAT(f.Text(), Not(HasSubstr("tanh")));
  EXPECT_GT(f.program.tasks[0].cost_ns, 0);
  EXPECT_GT(f.program.tasks[0].cost_ns_per_unit, 0);
}

// `count` nodes' worth of exp(s + 1), exp(s + 2), ..
ValueId Exponentials(Builder& b, int count) {
  const ValueId x = b.Convert(b.Slot(ir::SlotId{1}), DType::kF32);
  ValueId sum = x;
  for (int i = 1; i <= count; ++i) sum = b.Add(sum, b.Unary(OpKind::kExp, b.Add(x, b.F32(static_cast<float>(i)))));
  return sum;
}

TEST(ExpandMath, WritesOutAFewPolynomialsAndLeavesManyToCalls) {
  for (const int count : {1, 2, 50}) {
    Fixture f;
    Builder b(f.program, f.body());
    b.Close(Exponentials(b, count));
    ExpandMath(f.program);
    EXPECT_EQ(f.Text().find("exp") == std::string::npos, count < 50) << f.Text();
    EXPECT_EQ(f.Text().find("fma") != std::string::npos, count < 50) << f.Text();
  }
}

}  // namespace
}  // namespace wf::passes
