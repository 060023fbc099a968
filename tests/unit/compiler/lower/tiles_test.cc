// Sums for each element of a build, some rows and columns of it at once: the bits are those of each element alone.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

// Up to several tiles of 4 rows, and one of 64 columns, with every kind of rest.
const std::vector<int64_t> kRows = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 64, 65, 83};

using Ids = std::vector<ValueId>;

// The sum over k < `extent` of what `term` says of k.
template <typename Term>
ValueId SumOver(Builder& b, DType dtype, ValueId extent, const Term& term) {
  const ir::BlockId block = b.Open({b.ScalarType(DType::kI64)});
  b.Close(term(b.Param(0)));
  return b.Reduce(ReduceKind::kSum, dtype, extent, block);
}

// An element of a tensor of bytes as a float whose sums are rounded, so that every other order has other bits. Random floats would not do:
// long sums of them are NaN or the greatest of them in any order.
ValueId Tame(Builder& b, DType dtype, ValueId byte) {
  return b.Mul(b.Convert(byte, dtype), dtype == DType::kF64 ? b.F64(0.3) : b.F32(0.3F));
}

class TilesTest : public BodyTest {
 protected:
  // A build over as many axes as it has extents.
  struct Case {
    std::string name;
    std::vector<TypeId> in;
    TypeId out;
    size_t depth_axis;  // of the first input
    std::function<Ids(Builder&, const In&)> extents;
    std::function<ValueId(Builder&, const In&, const Ids& at)> element;  // the last of `at` is how many elements the sum has
  };
  void AddBuild(const Case& made) {
    cases_.Add(made.name, made.in, made.out, [this, made](Builder& b, const In& values) {
      const Ids wanted = made.extents(b, values);
      const ValueId depth = b.Dim(values[0], made.depth_axis);
      const ir::BlockId each = b.Open(std::vector<TypeId>(wanted.size(), I64()));
      Ids at;
      for (size_t i = 0; i < wanted.size(); ++i) at.push_back(b.Param(i));
      at.push_back(depth);
      b.Close(made.element(b, values, at));
      return b.Build(types()[made.out].dtype, wanted, each);
    });
  }
  TypeId Bytes(size_t rank) { return Tensor(DType::kU8, std::vector<int64_t>(rank, -1)); }
  TypeId Floats(size_t rank, DType dtype = DType::kF32) { return Tensor(dtype, std::vector<int64_t>(rank, -1)); }
};

Ids RowsOfBoth(Builder& b, const In& in) { return {b.Dim(in[0], 0), b.Dim(in[1], 0)}; }
// Inputs have the extents {size, size / 2 + 1}.
Ids ColumnsOfBoth(Builder& b, const In& in) { return {b.Dim(in[0], 1), b.Dim(in[1], 1)}; }

Ids RowsOfOne(Builder& b, const In& in) { return {b.Dim(in[0], 0)}; }
Ids ColumnsOfOne(Builder& b, const In& in) { return {b.Dim(in[0], 1)}; }
Ids ThreeTimesRows(Builder& b, const In& in) { return {b.I64(3), b.Dim(in[0], 0), b.Dim(in[0], 0)}; }

TEST_F(TilesTest, RowsTimesRowsAndColumns) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    AddBuild({"along rows", {Bytes(2), Bytes(2)}, Floats(2, dtype), 1, RowsOfBoth, [dtype](Builder& b, const In& in, const Ids& at) {
                return SumOver(b, dtype, at.back(), [&](ValueId k) {
                  return b.Mul(Tame(b, dtype, b.Load(in[0], {at[0], k})), Tame(b, dtype, b.Load(in[1], {at[1], k})));
                });
              }});
    AddBuild({"down columns", {Bytes(2), Bytes(2)}, Floats(2, dtype), 0, ColumnsOfBoth, [dtype](Builder& b, const In& in, const Ids& at) {
                return SumOver(b, dtype, at.back(), [&](ValueId k) {
                  return b.Mul(Tame(b, dtype, b.Load(in[0], {k, at[0]})), Tame(b, dtype, b.Load(in[1], {k, at[1]})));
                });
              }});
    AddBuild({"floats of all kinds",
              {Floats(2, dtype), Floats(2, dtype)},
              Floats(2, dtype),
              1,
              RowsOfBoth,
              [dtype](Builder& b, const In& in, const Ids& at) {
                return SumOver(b, dtype, at.back(), [&](ValueId k) { return b.Mul(b.Load(in[0], {at[0], k}), b.Load(in[1], {at[1], k})); });
              }});
  }
  Check(kRows);
}

TEST_F(TilesTest, OneAxis) {
  const DType f32 = DType::kF32;
  const auto product = [](Builder& b, const In& in, const Ids& at) {
    return SumOver(b, f32, at.back(),
                   [&](ValueId k) { return b.Mul(Tame(b, f32, b.Load(in[1], {k})), Tame(b, f32, b.Load(in[0], {k, at[0]}))); });
  };
  const auto distance = [](Builder& b, const In& in, const Ids& at) {
    return SumOver(b, f32, at.back(), [&](ValueId k) {
      const ValueId apart = b.Sub(Tame(b, f32, b.Load(in[0], {at[0], k})), Tame(b, f32, b.Load(in[1], {k})));
      return b.Mul(apart, apart);
    });
  };
  AddBuild({"a vector times a matrix", {Bytes(2), Bytes(1)}, Floats(1), 0, ColumnsOfOne, product});
  AddBuild({"distances to a vector", {Bytes(2), Bytes(1)}, Floats(1), 1, RowsOfOne, distance});
  Check(kRows);
}

TEST_F(TilesTest, ThreeAxes) {
  const DType f32 = DType::kF32;
  AddBuild({"scores of heads", {Bytes(2)}, Floats(3), 1, ThreeTimesRows, [](Builder& b, const In& in, const Ids& at) {
              const ValueId weight = b.Convert(at[0], f32);
              const ValueId sum = SumOver(b, f32, at.back(), [&](ValueId k) {
                return b.Mul(b.Mul(weight, Tame(b, f32, b.Load(in[0], {at[1], k}))), Tame(b, f32, b.Load(in[0], {at[2], k})));
              });
              return b.Mul(sum, b.F32(0.125F));
            }});
  Check(kRows);
}

TEST_F(TilesTest, WithWorkAroundTheSum) {
  const DType f32 = DType::kF32;
  AddBuild({"scaled by both indices", {Bytes(2), Bytes(2)}, Floats(2), 1, RowsOfBoth, [](Builder& b, const In& in, const Ids& at) {
              const ValueId weight = b.Convert(b.Add(b.Mul(at[0], b.I64(3)), at[1]), f32);
              const ValueId sum = SumOver(b, f32, at.back(), [&](ValueId k) {
                return b.Mul(b.Sub(Tame(b, f32, b.Load(in[0], {at[0], k})), weight), b.Convert(b.Load(in[1], {at[1], k}), f32));
              });
              return b.Add(b.Mul(weight, sum), b.F32(1));
            }});
  AddBuild({"columns, scaled", {Bytes(2), Bytes(2)}, Floats(2), 0, ColumnsOfBoth, [](Builder& b, const In& in, const Ids& at) {
              const ValueId weight = b.Convert(b.Sub(at[0], at[1]), f32);
              const ValueId sum = SumOver(b, f32, at.back(), [&](ValueId k) {
                return b.Mul(Tame(b, f32, b.Load(in[0], {k, at[0]})), b.Add(b.Convert(b.Load(in[1], {k, at[1]}), f32), weight));
              });
              return b.Unary(OpKind::kSqrt, b.Unary(OpKind::kAbs, b.Mul(sum, weight)));
            }});
  Check(kRows);
}

TEST_F(TilesTest, ToAnotherType) {
  const DType f32 = DType::kF32;
  AddBuild({"to another type", {Bytes(2), Bytes(2)}, Floats(2, DType::kI64), 1, RowsOfBoth, [](Builder& b, const In& in, const Ids& at) {
              const ValueId sum = SumOver(b, f32, at.back(), [&](ValueId k) {
                return b.Mul(Tame(b, f32, b.Load(in[0], {at[0], k})), Tame(b, f32, b.Load(in[1], {at[1], k})));
              });
              return b.Convert(b.Mul(sum, b.F32(1000)), DType::kI64);
            }});
  Check(kRows);
}

// So long that few columns make a panel.
TEST_F(TilesTest, SeveralPanels) {
  constexpr int64_t kDepth = 1030;
  const auto extents = [](Builder& b, const In&) { return Ids{b.I64(5), b.I64(150)}; };
  for (const bool is_along : {true, false}) {
    const TypeId other = is_along ? Tensor(DType::kU8, {150, kDepth}) : Tensor(DType::kU8, {kDepth, 150});
    AddBuild({is_along ? "along" : "down",
              {Tensor(DType::kU8, {5, kDepth}), other},
              Tensor(DType::kF32, {5, 150}),
              1,
              extents,
              [is_along](Builder& b, const In& in, const Ids& at) {
                return SumOver(b, DType::kF32, at.back(), [&](ValueId k) {
                  const ValueId read = is_along ? b.Load(in[1], {at[1], k}) : b.Load(in[1], {k, at[1]});
                  return b.Mul(Tame(b, DType::kF32, b.Load(in[0], {at[0], k})), Tame(b, DType::kF32, read));
                });
              }});
  }
  Check({1});
}

}  // namespace
}  // namespace wf::lower::testing
