// Rows that are run in pieces: which ones are, and that each element is what it is alone, or fails as it does.

#include <limits>

#include "compiler/lower/pieces.h"
#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min(), kHighest = std::numeric_limits<int64_t>::max();
const std::vector<int64_t> kShifts = {0, 3, -40, kLowest, kLowest + 5, kHighest - 5};

class PiecesTest : public BodyTest {
 protected:
  using Element = std::function<ValueId(Builder&, const In&, ValueId index)>;

  TypeId Vector() { return Tensor(DType::kF32, {-1}); }
  // `if condition { then } else { otherwise }`, each with loads of its own.
  static ValueId Choose(Builder& b, ValueId condition, const std::function<ValueId()>& then, const std::function<ValueId()>& otherwise) {
    const ir::BlockId yes = b.Open({});
    const ValueId a = then();
    b.Close(a);
    const ir::BlockId no = b.Open({});
    b.Close(otherwise());
    return b.If(condition, b.TypeOf(a), yes, no);
  }
  static ValueId At(Builder& b, ValueId tensor, ValueId index) { return b.Load(tensor, {b.CheckIndex(index, b.Dim(tensor, 0))}); }
  static ValueId CheckDivisor(Builder& b, ValueId divisor) { return b.Emit(OpKind::kCheckDivisor, b.TypeOf(divisor), {divisor}); }
  // A vector as long as twice the first input, and three more.
  void AddRow(const std::string& name, const Element& element) {
    cases_.Add(name, {Vector(), Vector()}, Vector(), [this, element](Builder& b, const In& in) {
      const ValueId count = b.Add(b.Mul(b.Dim(in[0], 0), b.I64(2)), b.I64(3));
      const ir::BlockId block = b.Open({I64()});
      b.Close(element(b, in, b.Param(0)));
      return b.Build(DType::kF32, {count}, block);
    });
  }
  // Is the last build added one that is run in pieces?
  bool IsSplit() {
    const ir::Body& body = cases_.program.tasks[cases_.cases.back().task].body;
    const ir::Op& build = body[body.blocks[0].result];
    return Pieces(types(), body, body[build.blocks[0]]).is_worth_it();
  }
  static ValueId Less(Builder& b, OpKind kind, bool is_first, ValueId line, ValueId bound) {
    return is_first ? b.Binary(kind, line, bound) : b.Binary(kind, bound, line);
  }
};

TEST_F(PiecesTest, OneOfTwoByAComparisonOfTheIndex) {
  for (const OpKind kind : {OpKind::kLt, OpKind::kLe}) {
    for (const bool is_first : {true, false}) {
      for (const int64_t shift : kShifts) {
        AddRow("a comparison", [=](Builder& b, const In& in, ValueId index) {
          const ValueId holds = Less(b, kind, is_first, b.Add(index, b.I64(shift)), b.Dim(in[1], 0));
          return Choose(
              b, holds, [&] { return b.Load(in[1], {b.CheckIndex(b.Binary(OpKind::kRem, index, b.I64(1)), b.Dim(in[1], 0))}); },
              [&] { return b.F32(7); });
        });
        EXPECT_TRUE(IsSplit());
        AddRow("a selection", [=](Builder& b, const In& in, ValueId index) {
          const ValueId holds = Less(b, kind, is_first, b.Sub(index, b.I64(shift)), b.Dim(in[1], 0));
          return b.Select(holds, b.F32(3), b.Convert(index, DType::kF32));
        });
        EXPECT_TRUE(IsSplit());
      }
    }
  }
  Check({0, 1, 7, 33}, 1);
}

TEST_F(PiecesTest, OneBehindTheOther) {
  for (const int64_t over : {0, 1, 3}) {  // elements of the row that are in neither: a failure, but for none
    cases_.Add("concat", {Vector(), Vector()}, Vector(), [this, over](Builder& b, const In& in) {
      const ValueId m = b.Dim(in[0], 0), count = b.Add(b.Add(m, b.Dim(in[1], 0)), b.I64(over));
      const ir::BlockId block = b.Open({I64()});
      const ValueId index = b.Param(0);
      b.Close(
          Choose(b, b.Binary(OpKind::kLt, index, m), [&] { return At(b, in[0], index); }, [&] { return At(b, in[1], b.Sub(index, m)); }));
      return b.Build(DType::kF32, {count}, block);
    });
    EXPECT_TRUE(IsSplit());
  }
  for (const int64_t before : {-3, 0, 2, 50}) {
    AddRow("pad", [=](Builder& b, const In& in, ValueId index) {
      const ValueId end = b.Add(b.Dim(in[0], 0), b.I64(before));
      const ValueId outside = b.Binary(OpKind::kOr, b.Binary(OpKind::kLt, index, b.I64(before)), b.Binary(OpKind::kLe, end, index));
      return Choose(b, outside, [&] { return b.F32(-1); }, [&] { return At(b, in[0], b.Sub(index, b.I64(before))); });
    });
    EXPECT_TRUE(IsSplit());
    AddRow("two choices", [=](Builder& b, const In& in, ValueId index) {
      const ValueId low = b.Binary(OpKind::kLt, index, b.I64(before)), high = b.Binary(OpKind::kLe, b.Dim(in[0], 0), index);
      const ValueId inner = Choose(b, high, [&] { return b.F32(2); }, [&] { return At(b, in[0], index); });
      return b.Select(low, b.F32(1), inner);
    });
    EXPECT_TRUE(IsSplit());
  }
  Check(kSizes, 1);
}

TEST_F(PiecesTest, PeriodsOfTheIndex) {
  for (const int64_t shift : kShifts) {
    for (const int64_t by : {70, 20, -70}) {
      AddRow("a rest and a quotient", [=](Builder& b, const In&, ValueId index) {
        const ValueId at = b.Add(index, b.I64(shift)), by_value = b.I64(by);
        const ValueId rest = b.Binary(OpKind::kRem, at, by_value), quotient = b.Binary(OpKind::kDiv, at, by_value);
        return b.Convert(b.Add(b.Mul(quotient, b.I64(1000)), rest), DType::kF32);
      });
      EXPECT_EQ(IsSplit(), by >= 64) << shift << " " << by;
    }
  }
  AddRow("tile", [](Builder& b, const In& in, ValueId index) {
    const ValueId n = b.Dim(in[0], 0);
    return At(b, in[0], b.Binary(OpKind::kRem, index, CheckDivisor(b, n)));
  });
  EXPECT_TRUE(IsSplit());
  for (const int64_t by : kShifts) {
    AddRow("roll", [=](Builder& b, const In& in, ValueId index) {
      const ValueId n = b.Dim(in[0], 0), divisor = CheckDivisor(b, n);
      const ValueId moved = b.Sub(b.Add(index, n), b.Binary(OpKind::kRem, b.I64(by), divisor));
      return At(b, in[0], b.Binary(OpKind::kRem, moved, divisor));
    });
    EXPECT_TRUE(IsSplit());
    AddRow("a rest that is below 0 here and there", [=](Builder& b, const In& in, ValueId index) {
      return At(b, in[0], b.Binary(OpKind::kRem, b.Add(index, b.I64(by)), b.I64(70)));
    });
    EXPECT_TRUE(IsSplit());
  }
  Check({0, 1, 7, 33, 100}, 1);
}

TEST_F(PiecesTest, RowsOfTablesAreSplitToo) {
  const TypeId matrix = Tensor(DType::kF32, {-1, -1}), places = Tensor(DType::kI64, {-1});
  cases_.Add("pad2", {matrix}, matrix, [this](Builder& b, const In& in) {
    const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
    const ir::BlockId block = b.Open({I64(), I64()});
    const ValueId y = b.Sub(b.Param(0), b.I64(2)), x = b.Sub(b.Param(1), b.I64(1));
    const auto is_outside = [&](ValueId at, ValueId extent) {
      return b.Binary(OpKind::kOr, b.Binary(OpKind::kLt, at, b.I64(0)), b.Binary(OpKind::kLe, extent, at));
    };
    b.Close(Choose(
        b, b.Binary(OpKind::kOr, is_outside(y, height), is_outside(x, width)), [&] { return b.F32(9); },
        [&] { return b.Load(in[0], {b.CheckIndex(y, height), b.CheckIndex(x, width)}); }));
    return b.Build(DType::kF32, {b.Add(height, b.I64(3)), b.Add(width, b.I64(2))}, block);
  });
  EXPECT_TRUE(IsSplit());
  cases_.Add("rows of one or the other", {matrix, places}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    const ValueId height = b.Dim(in[0], 0), from = b.Load(in[1], {b.Param(0)}), column = b.Param(1);
    b.Close(Choose(
        b, b.Binary(OpKind::kLt, from, b.I64(0)), [&] { return b.F32(2); },
        [&] { return b.Load(in[0], {b.CheckIndex(b.Binary(OpKind::kRem, from, b.I64(3)), height), column}); }));
    return b.Build(DType::kF32, {b.Dim(in[1], 0), b.Dim(in[0], 1)}, block);
  });
  EXPECT_TRUE(IsSplit());
  cases_.Add("a place for each row that may not fit", {matrix, places}, matrix, [this](Builder& b, const In& in) {
    const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
    const ir::BlockId block = b.Open({I64(), I64()});
    const ValueId from = b.Load(in[1], {b.CheckIndex(b.Sub(b.Param(0), b.I64(1)), b.Dim(in[1], 0))});
    const ValueId row = b.CheckIndex(b.Binary(OpKind::kRem, from, b.I64(2)), height);
    b.Close(b.Load(in[0], {row, b.CheckIndex(b.Binary(OpKind::kRem, b.Param(1), CheckDivisor(b, width)), width)}));
    return b.Build(DType::kF32, {height, b.Mul(width, b.I64(3))}, block);
  });
  EXPECT_TRUE(IsSplit());
  Check(kSizes, 3);
}

// Pieces of every length up to those that a call copies: of `size / 2 + 1` elements and of `size`.
TEST_F(PiecesTest, ShortPieces) {
  for (const DType dtype : {DType::kBool, DType::kU8, DType::kI16, DType::kF32, DType::kF64}) {
    const TypeId matrix = Tensor(dtype, {-1, -1}), vector = Tensor(dtype, {-1});
    cases_.Add("a row and the same behind each", {matrix, vector}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId width = b.Dim(in[0], 1), more = b.Dim(in[1], 0);
      const ir::BlockId block = b.Open({I64(), I64()});
      const ValueId y = b.Param(0), x = b.Param(1);
      b.Close(
          Choose(b, b.Binary(OpKind::kLt, x, width), [&] { return b.Load(in[0], {y, x}); }, [&] { return At(b, in[1], b.Sub(x, width)); }));
      return b.Build(dtype, {b.Binary(OpKind::kMin, b.Dim(in[0], 0), b.I64(3)), b.Add(width, more)}, block);
    });
    EXPECT_TRUE(IsSplit());
    cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
    cases_.Add("moved round", {vector}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId n = b.Dim(in[0], 0);
      const ir::BlockId block = b.Open({I64(), I64()});
      b.Close(At(b, in[0], b.Binary(OpKind::kRem, b.Add(b.Param(1), b.Param(0)), CheckDivisor(b, n))));
      return b.Build(dtype, {b.Binary(OpKind::kMin, n, b.I64(5)), b.Mul(n, b.I64(2))}, block);
    });
    EXPECT_TRUE(IsSplit());
  }
  std::vector<int64_t> sizes;
  for (int64_t size = 0; size < 36; ++size) sizes.push_back(size);
  for (const int64_t size : {48, 63, 64, 65, 127, 128, 129, 255}) sizes.push_back(size);
  Check(sizes, 1);
}

// Short pieces that are copied go without a call, through vectors of bytes; those that compute their elements do not.
TEST_F(PiecesTest, WhatIsCopiedInVectors) {
  for (const bool is_copied : {true, false}) {
    cases_ = Cases();
    AddRow("tile", [is_copied](Builder& b, const In& in, ValueId index) {
      const ValueId one = At(b, in[0], b.Binary(OpKind::kRem, b.Add(index, b.I64(1)), CheckDivisor(b, b.Dim(in[0], 0))));
      return is_copied ? one : b.Add(one, b.F32(1));
    });
    EXPECT_TRUE(IsSplit());
    EXPECT_EQ(Printed().find("store <32 x i8>") != std::string::npos, is_copied);
  }
}

TEST_F(PiecesTest, WhatIsNotSplit) {
  AddRow("no condition", [](Builder& b, const In&, ValueId index) { return b.Convert(index, DType::kF32); });
  EXPECT_FALSE(IsSplit());
  AddRow("a condition of an element", [](Builder& b, const In& in, ValueId index) {
    const ValueId one = At(b, in[0], index);
    return Choose(b, b.Binary(OpKind::kLt, one, b.F32(0)), [&] { return b.F32(1); }, [&] { return At(b, in[1], index); });
  });
  EXPECT_FALSE(IsSplit());
  AddRow("an index that goes down", [](Builder& b, const In& in, ValueId index) {
    const ValueId n = b.Dim(in[0], 0);
    return At(b, in[0], b.Sub(n, b.Binary(OpKind::kRem, index, b.I64(70))));
  });
  EXPECT_FALSE(IsSplit());
  Check({0, 7, 33}, 1);
}

}  // namespace
}  // namespace wf::lower::testing
