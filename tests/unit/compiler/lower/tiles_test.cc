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

// Rests of tiles and of lanes that are known when the code is written: 1 to 3 rows beyond tiles of 4, 1 and 15 columns beyond vectors of
// 16, one element beyond the lanes of a sum; and fewer columns than a vector has.
TEST_F(TilesTest, KnownExtents) {
  struct Extents {
    int64_t rows, columns, depth;
  };
  for (const Extents& of :
       {Extents{5, 17, 17}, {7, 31, 33}, {6, 9, 18}, {1, 64, 48}, {13, 1, 23}, {4, 80, 16}, {3, 0, 40}, {0, 65, 19}, {9, 33, 0}}) {
    for (const bool is_along : {true, false}) {
      const auto dims = is_along ? std::vector<int64_t>{of.columns, of.depth} : std::vector<int64_t>{of.depth, of.columns};
      const std::string name = std::to_string(of.rows) + " by " + std::to_string(of.columns) + ", sums of " + std::to_string(of.depth);
      AddBuild({name + (is_along ? ", along" : ", down"),
                {Tensor(DType::kU8, {of.rows, of.depth}), Tensor(DType::kU8, dims)},
                Tensor(DType::kF32, {of.rows, of.columns}),
                1,
                [of](Builder& b, const In&) { return Ids{b.I64(of.rows), b.I64(of.columns)}; },
                [is_along](Builder& b, const In& in, const Ids& at) {
                  return SumOver(b, DType::kF32, at.back(), [&](ValueId k) {
                    const ValueId read = is_along ? b.Load(in[1], {at[1], k}) : b.Load(in[1], {k, at[1]});
                    return b.Mul(Tame(b, DType::kF32, b.Load(in[0], {at[0], k})), Tame(b, DType::kF32, read));
                  });
                }});
    }
  }
  Check({1});
}

ValueId Forced(Builder& b, ValueId at, ValueId extent) {
  const ValueId most = b.Binary(OpKind::kMax, b.Sub(extent, b.I64(1)), b.I64(0));
  return b.Binary(OpKind::kMin, b.Binary(OpKind::kMax, at, b.I64(0)), most);
}

// Rows that a table names, as rows of embeddings are, and a table for the columns, which lanes read one by one and tiles leave to them.
TEST_F(TilesTest, PlacesOfATable) {
  const auto rows = [](Builder& b, const In& in, const Ids& at) {
    const ValueId row = Forced(b, b.Load(in[2], {at[1]}), b.Dim(in[1], 0));
    return SumOver(b, DType::kF32, at.back(), [&](ValueId k) {
      return b.Mul(Tame(b, DType::kF32, b.Load(in[0], {at[0], k})), Tame(b, DType::kF32, b.Load(in[1], {row, k})));
    });
  };
  const auto columns = [](Builder& b, const In& in, const Ids& at) {
    const ValueId column = Forced(b, b.Load(in[2], {at[1]}), b.Dim(in[1], 1));
    return SumOver(b, DType::kF32, at.back(), [&](ValueId k) {
      return b.Mul(Tame(b, DType::kF32, b.Load(in[0], {k, at[0]})), Tame(b, DType::kF32, b.Load(in[1], {k, column})));
    });
  };
  AddBuild({"rows of a table", {Bytes(2), Bytes(2), Tensor(DType::kI64, {-1})}, Floats(2), 1, RowsOfBoth, rows});
  AddBuild({"columns of a table", {Bytes(2), Bytes(2), Tensor(DType::kI64, {100})}, Floats(2), 0, ColumnsOfBoth, columns});
  Check(kRows);
}

// A bias, a choice by an index and one by an element; products.
TEST_F(TilesTest, OtherElements) {
  const DType f32 = DType::kF32, f64 = DType::kF64;
  const auto choice = [](Builder& b, const In& in, const Ids& at) {
    const ValueId sum = SumOver(b, f32, at.back(), [&](ValueId k) {
      const ValueId left = Tame(b, f32, b.Load(in[0], {k, at[0]})), right = Tame(b, f32, b.Load(in[1], {k, at[1]}));
      return b.Select(b.Binary(OpKind::kLt, left, right), b.Mul(left, right), b.Sub(right, left));
    });
    const ValueId biased = b.Add(sum, Tame(b, f32, b.Load(in[2], {at[1]})));
    return b.Select(b.Binary(OpKind::kLt, at[1], b.I64(5)), biased, b.Binary(OpKind::kMax, biased, b.F32(9000)));
  };
  AddBuild({"a bias and a choice", {Bytes(2), Bytes(2), Tensor(DType::kU8, {100})}, Floats(2), 0, ColumnsOfBoth, choice});
  AddBuild({"products", {Bytes(2), Bytes(2)}, Floats(2, f64), 0, ColumnsOfBoth, [](Builder& b, const In& in, const Ids& at) {
              const ir::BlockId block = b.Open({b.ScalarType(DType::kI64)});
              const ValueId k = b.Param(0);
              const ValueId apart = b.Sub(Tame(b, f64, b.Load(in[0], {k, at[0]})), Tame(b, f64, b.Load(in[1], {k, at[1]})));
              b.Close(b.Add(b.F64(1), b.Mul(apart, b.F64(0.007))));
              return b.Reduce(ReduceKind::kProd, f64, at.back(), block);
            }});
  Check({0, 1, 3, 16, 17, 31, 40});
}

// Down columns: sums of nothing but -0 are 0, as those that begin with 0 are.
TEST_F(TilesTest, SumsOfZerosBelowZero) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    AddBuild({"zeros", {Bytes(2), Bytes(2)}, Floats(2, dtype), 0, ColumnsOfBoth, [dtype](Builder& b, const In& in, const Ids& at) {
                return SumOver(b, dtype, at.back(), [&](ValueId k) {
                  const ValueId none = dtype == DType::kF64 ? b.F64(0) : b.F32(0);
                  const ValueId left = b.Mul(b.Convert(b.Load(in[0], {k, at[0]}), dtype), none);
                  return b.Mul(left, b.Unary(OpKind::kNeg, b.Convert(b.Load(in[1], {k, at[1]}), dtype)));
                });
              }});
  }
  Check({0, 1, 8, 16, 17, 33, 40});
}

// A lane of a sum that has as many elements as there are lanes begins with the first: nothing is set to 0, and added to.
TEST_F(TilesTest, LanesBeginWithTheirFirstElements) {
  for (const int64_t depth : {15, 17, 40}) {
    cases_ = Cases();
    AddBuild({"down columns",
              {Tensor(DType::kF32, {8, depth}), Tensor(DType::kF32, {depth, 32})},
              Tensor(DType::kF32, {8, 32}),
              1,
              [](Builder& b, const In&) { return Ids{b.I64(8), b.I64(32)}; },
              [depth](Builder& b, const In& in, const Ids& at) {
                return SumOver(b, DType::kF32, b.I64(depth),
                               [&](ValueId k) { return b.Mul(b.Load(in[0], {at[0], k}), b.Load(in[1], {k, at[1]})); });
              }});
    EXPECT_EQ(Printed().find("store <8 x float> zeroinitializer"), std::string::npos) << depth;
    EXPECT_EQ(Printed().find("bitreverse.i8") != std::string::npos, depth > 16) << depth;
  }
}

// They are no tiles.
TEST_F(TilesTest, SumsOfSums) {
  const DType f32 = DType::kF32;
  AddBuild({"sums of sums", {Bytes(2), Bytes(2)}, Floats(2), 1, RowsOfBoth, [](Builder& b, const In& in, const Ids& at) {
              return SumOver(b, f32, at.back(), [&](ValueId k) {
                return SumOver(b, f32, at.back(), [&](ValueId other) {
                  return b.Mul(Tame(b, f32, b.Load(in[0], {at[0], k})), Tame(b, f32, b.Load(in[1], {at[1], other})));
                });
              });
            }});
  Check({0, 1, 3, 16, 17, 31, 40});
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

// What rows share is packed where there are sixteen of them: floats as they are, of builds of two axes and of three.
class PanelsTest : public TilesTest {
 protected:
  // [i, k] => of the first input; [k, j] => of the second, whose rows are its columns. Floats whose sums are rounded.
  std::pair<ValueId, ValueId> Factors(Builder& b, DType dtype, const In& in) {
    const auto made = [&](ValueId bytes, bool is_turned) {
      const ir::BlockId each = b.Open({I64(), I64()});
      const ValueId y = b.Param(is_turned ? 1 : 0), x = b.Param(is_turned ? 0 : 1);
      b.Close(Tame(b, dtype, b.Load(bytes, {y, x})));
      return b.Build(dtype, {b.Dim(bytes, is_turned ? 1 : 0), b.Dim(bytes, is_turned ? 0 : 1)}, each);
    };
    const ValueId first = made(in[0], false);
    return {first, made(in[1], true)};
  }
  void AddProduct(DType dtype, std::vector<int64_t> first, std::vector<int64_t> second, int64_t times) {
    const TypeId out = times == 1 ? Tensor(dtype, {first[0], second[0]}) : Tensor(dtype, {times, first[0], second[0]});
    cases_.Add("a product", {Tensor(DType::kU8, first), Tensor(DType::kU8, second)}, out, [this, dtype, times](Builder& b, const In& in) {
      const auto [left, right] = Factors(b, dtype, in);
      std::vector<ValueId> extents{b.Dim(left, 0), b.Dim(right, 1)};
      if (times != 1) extents.insert(extents.begin(), b.I64(times));
      const ValueId depth = b.Dim(left, 1);
      const ir::BlockId each = b.Open(std::vector<TypeId>(extents.size(), I64()));
      const ValueId i = b.Param(extents.size() - 2), j = b.Param(extents.size() - 1);
      const ir::BlockId term = b.Open({I64()});
      const ValueId k = b.Param(0);
      b.Close(b.Mul(b.Load(left, {i, k}), b.Load(right, {k, j})));
      b.Close(b.Reduce(ReduceKind::kSum, dtype, depth, term));
      return b.Build(dtype, extents, each);
    });
  }
};

TEST_F(PanelsTest, AreTheSameSums) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t times : {1, 3}) AddProduct(dtype, {-1, -1}, {-1, -1}, times);
  }
  Check({0, 1, 16, 19, 33, 83});
}

TEST_F(PanelsTest, OfKnownExtents) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    AddProduct(dtype, {16, 7}, {64, 7}, 1);
    AddProduct(dtype, {19, 40}, {83, 40}, 1);
    AddProduct(dtype, {17, 1030}, {150, 1030}, 1);  // in several panels
    AddProduct(dtype, {16, 5000}, {64, 5000}, 1);   // too deep for one
  }
  Check({1});
}

TEST_F(PanelsTest, AreForManyRows) {
  const auto allocations = [&](int64_t rows) {
    cases_ = Cases();
    AddProduct(DType::kF32, {rows, 64}, {64, 64}, 1);
    const std::string printed = Printed();
    size_t count = 0;
    for (size_t at = 0; (at = printed.find("call noalias ptr @wf_alloc(", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_EQ(allocations(16), allocations(15) + 1);
}

}  // namespace
}  // namespace wf::lower::testing
