// Reductions down the columns of a matrix, a row of the result at once: the bits are those of each element alone.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

// The element [y, x] of the first transposed times the second.
ValueId Product(Builder& b, ReduceKind kind, const In& factors, ValueId y, ValueId x) {
  const ir::BlockId term = b.Open({b.ScalarType(DType::kI64)});
  const ValueId k = b.Param(0), product = b.Mul(b.Load(factors[0], {k, y}), b.Load(factors[1], {k, x}));
  b.Close(product);
  return b.Reduce(kind, b.DTypeOf(product), b.Dim(factors[0], 0), term);
}

TEST_F(BodyTest, MatrixProducts) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kProd, ReduceKind::kMax}) {
      const TypeId matrix = Tensor(dtype, {-1, -1});
      cases_.Add("product", {matrix, matrix}, matrix, [this, dtype, kind](Builder& b, const In& in) {
        const ir::BlockId each = b.Open({I64(), I64()});
        b.Close(Product(b, kind, in, b.Param(0), b.Param(1)));
        return b.Build(dtype, {b.Dim(in[0], 1), b.Dim(in[1], 1)}, each);
      });
    }
  }
  Check(kSizes);
}

TEST_F(BodyTest, ProductsOfKnownExtents) {
  for (const int64_t depth : {3, 16, 17, 40}) {
    for (const int64_t width : {1, 5, 16, 37}) {
      const TypeId a = Tensor(DType::kF32, {depth, 4}), c = Tensor(DType::kF32, {depth, width}), out = Tensor(DType::kF32, {4, width});
      cases_.Add("known", {a, c}, out, [this, width](Builder& b, const In& in) {
        const ir::BlockId each = b.Open({I64(), I64()});
        b.Close(Product(b, ReduceKind::kSum, in, b.Param(0), b.Param(1)));
        return b.Build(DType::kF32, {b.I64(4), b.I64(width)}, each);
      });
    }
  }
  Check({1});
}

TEST_F(BodyTest, ProductsOfFewRows) {
  const TypeId a = Tensor(DType::kF32, {40, -1}), c = Tensor(DType::kF32, {40, 37}), out = Tensor(DType::kF32, {-1, 37});
  cases_.Add("few rows", {a, c}, out, [this](Builder& b, const In& in) {
    const ir::BlockId each = b.Open({I64(), I64()});
    b.Close(Product(b, ReduceKind::kSum, in, b.Param(0), b.Param(1)));
    return b.Build(DType::kF32, {b.Dim(in[0], 1), b.I64(37)}, each);
  });
  for (const int64_t rows : {1, 2, 3, 4, 5, 7}) {
    const TypeId known = Tensor(DType::kF32, {40, rows}), product = Tensor(DType::kF32, {rows, 37});
    cases_.Add("few known rows", {known, c}, product, [this, rows](Builder& b, const In& in) {
      const ir::BlockId each = b.Open({I64(), I64()});
      b.Close(Product(b, ReduceKind::kSum, in, b.Param(0), b.Param(1)));
      return b.Build(DType::kF32, {b.I64(rows), b.I64(37)}, each);
    });
  }
  Check({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20});
}

TEST_F(BodyTest, ColumnsAmongOtherWork) {
  const TypeId matrix = Tensor(DType::kF32, {-1, -1}), vector = Tensor(DType::kF32, {-1});
  cases_.Add("two sums, joined", {matrix, matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId each = b.Open({I64(), I64()});
    const ValueId y = b.Param(0), x = b.Param(1);
    const ValueId one = Product(b, ReduceKind::kSum, in, y, x);
    const ValueId two = Product(b, ReduceKind::kSum, {in[1], in[0]}, y, x);
    b.Close(b.Add(b.Mul(one, b.F32(2)), b.Binary(OpKind::kDiv, two, b.Convert(b.Add(x, b.I64(1)), DType::kF32))));
    return b.Build(DType::kF32, {b.Dim(in[0], 1), b.Dim(in[0], 1)}, each);
  });
  cases_.Add("sums down a matrix", {matrix}, vector, [this](Builder& b, const In& in) {
    const ir::BlockId each = b.Open({I64()});
    const ValueId x = b.Param(0);
    const ir::BlockId term = b.Open({I64()});
    const ValueId k = b.Param(0);
    const ValueId weight = b.Convert(b.Binary(OpKind::kRem, b.Add(b.Mul(k, b.I64(7)), x), b.I64(5)), DType::kF32);
    b.Close(b.Select(b.Binary(OpKind::kLt, k, x), b.Load(in[0], {k, x}), b.Mul(weight, b.Load(in[0], {k, x}))));
    b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), term));
    return b.Build(DType::kF32, {b.Dim(in[0], 1)}, each);
  });
  cases_.Add("indices that do not fit", {matrix, matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId each = b.Open({I64(), I64()});
    const ValueId y = b.Param(0), x = b.Param(1);
    const ir::BlockId term = b.Open({I64()});
    const ValueId k = b.Param(0);
    const ValueId row = b.CheckIndex(k, b.Dim(in[1], 0)), column = b.CheckIndex(x, b.Dim(in[1], 1));
    b.Close(b.Mul(b.Load(in[0], {k, y}), b.Load(in[1], {row, column})));
    b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), term));
    return b.Build(DType::kF32, {b.Dim(in[0], 1), b.Add(b.Dim(in[1], 1), b.Binary(OpKind::kRem, b.Dim(in[0], 0), b.I64(2)))}, each);
  });
  Check(kSizes);
}

}  // namespace
}  // namespace wf::lower::testing
