// Scalars, tensors and reductions: the machine code of each CPU version against the interpreter, over extents around the vector widths.

#include "compiler/ir/math.h"
#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

TEST_F(BodyTest, ScalarArithmetic) {
  for (const DType dtype : {DType::kI32, DType::kI64, DType::kU32, DType::kU64, DType::kF32, DType::kF64}) {
    const TypeId t = Scalar(dtype), boolean = Scalar(DType::kBool);
    const std::string name = std::string(ir::NameOf(dtype)) + " ";
    for (const OpKind kind :
         {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kMin, OpKind::kMax, OpKind::kEq, OpKind::kNe, OpKind::kLt, OpKind::kLe}) {
      const bool compares = kind >= OpKind::kEq;
      cases_.Add(name + ir::InfoOf(kind).name, {t, t}, compares ? boolean : t,
                 [kind, t, compares, boolean](Builder& b, const In& in) { return b.Emit(kind, compares ? boolean : t, {in[0], in[1]}); });
    }
    for (const OpKind kind : {OpKind::kDiv, OpKind::kRem}) {
      cases_.Add(name + ir::InfoOf(kind).name, {t, t}, t, [kind, t, dtype](Builder& b, const In& in) {
        const ValueId divisor = ir::IsFloat(dtype) ? in[1] : b.Emit(OpKind::kCheckDivisor, t, {in[1]});
        return b.Emit(kind, t, {in[0], divisor});
      });
    }
    for (const OpKind kind : {OpKind::kNeg, OpKind::kAbs}) {
      cases_.Add(name + ir::InfoOf(kind).name, {t}, t, [kind, t](Builder& b, const In& in) { return b.Emit(kind, t, {in[0]}); });
    }
    if (ir::IsFloat(dtype)) {
      for (const OpKind kind : {OpKind::kFloor, OpKind::kCeil, OpKind::kRint, OpKind::kTrunc, OpKind::kSqrt}) {
        cases_.Add(name + ir::InfoOf(kind).name, {t}, t, [kind, t](Builder& b, const In& in) { return b.Emit(kind, t, {in[0]}); });
      }
      cases_.Add(name + "fma", {t, t, t}, t, [t](Builder& b, const In& in) { return b.Emit(OpKind::kFma, t, {in[0], in[1], in[2]}); });
    } else {
      for (const OpKind kind : {OpKind::kShl, OpKind::kShr, OpKind::kBitAnd, OpKind::kBitOr}) {
        cases_.Add(name + ir::InfoOf(kind).name, {t, t}, t,
                   [kind, t](Builder& b, const In& in) { return b.Emit(kind, t, {in[0], in[1]}); });
      }
    }
  }
  const TypeId integer = Scalar(DType::kI64);
  cases_.Add("index_or_zero", {integer, integer}, integer,
             [integer](Builder& b, const In& in) { return b.Emit(OpKind::kIndexOrZero, integer, {in[0], in[1]}); });
  Check({1}, 40);
}

TEST_F(BodyTest, Conversions) {
  std::vector<DType> all;
  for (int i = static_cast<int>(DType::kBool); i <= static_cast<int>(DType::kF64); ++i) all.push_back(static_cast<DType>(i));
  for (const DType from : all) {
    for (const DType to : all) {
      const TypeId in = Scalar(from), out = Scalar(to);
      cases_.Add(std::string(ir::NameOf(from)) + " to " + std::string(ir::NameOf(to)), {in}, out,
                 [out](Builder& b, const In& values) { return b.Emit(OpKind::kConvert, out, {values[0]}); });
    }
  }
  Check({1}, 20);
}

TEST_F(BodyTest, BuildsOverEveryElementType) {
  for (int i = static_cast<int>(DType::kBool); i <= static_cast<int>(DType::kF64); ++i) {
    const DType dtype = static_cast<DType>(i);
    const std::string name(ir::NameOf(dtype));
    cases_.Add("copy " + name, {Tensor(dtype, {-1})}, Tensor(dtype, {-1}), [this, dtype](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      b.Close(b.Load(in[0], {b.Param(0)}));
      return b.Build(dtype, {b.Dim(in[0], 0)}, block);
    });
    cases_.Add("to f32 and back " + name, {Tensor(dtype, {-1})}, Tensor(dtype, {-1}), [this, dtype](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      const ValueId x = b.Convert(b.Load(in[0], {b.Param(0)}), DType::kF32);
      b.Close(b.Convert(b.Emit(OpKind::kDiv, Scalar(DType::kF32), {x, b.F32(255.0f)}), dtype));
      return b.Build(dtype, {b.Dim(in[0], 0)}, block);
    });
  }
  Check(kSizes);
}

TEST_F(BodyTest, BuildsOfSeveralAxesReadAnyOrder) {
  const TypeId matrix = Tensor(DType::kF32, {-1, -1}), image = Tensor(DType::kU8, {-1, -1, 3});
  cases_.Add("pointwise", {matrix, matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    b.Close(b.Add(b.Load(in[0], {b.Param(0), b.Param(1)}), b.Load(in[1], {b.Param(0), b.Param(1)})));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.Dim(in[0], 1)}, block);
  });
  cases_.Add("transposed", {matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    b.Close(b.Load(in[0], {b.Param(1), b.Param(0)}));
    return b.Build(DType::kF32, {b.Dim(in[0], 1), b.Dim(in[0], 0)}, block);
  });
  cases_.Add("planes", {image}, Tensor(DType::kF32, {3, -1, -1}), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64(), I64()});
    const ValueId x = b.Convert(b.Load(in[0], {b.Param(1), b.Param(2), b.Param(0)}), DType::kF32);
    b.Close(b.Binary(OpKind::kDiv, x, b.F32(255.0f)));
    return b.Build(DType::kF32, {b.I64(3), b.Dim(in[0], 0), b.Dim(in[0], 1)}, block);
  });
  cases_.Add("normalise", {image}, Tensor(DType::kF32, {-1, -1, 3}), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64(), I64()});
    const ValueId x = b.Convert(b.Load(in[0], {b.Param(0), b.Param(1), b.Param(2)}), DType::kF32);
    b.Close(b.Binary(OpKind::kDiv, x, b.F32(255.0f)));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(3)}, block);
  });
  cases_.Add("gather", {Tensor(DType::kF32, {-1}), Tensor(DType::kI64, {-1})}, Tensor(DType::kF32, {-1}), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(in[0], {b.CheckIndex(b.Load(in[1], {b.Param(0)}), b.Dim(in[0], 0))}));
    return b.Build(DType::kF32, {b.Dim(in[1], 0)}, block);
  });
  cases_.Add("gather that fits", {Tensor(DType::kF32, {-1}), Tensor(DType::kU8, {-1})}, Tensor(DType::kF32, {-1}),
             [this](Builder& b, const In& in) {
               const ir::BlockId block = b.Open({I64()});
               const ValueId index = b.Convert(b.Load(in[1], {b.Param(0)}), DType::kI64);
               b.Close(b.Load(in[0], {b.CheckIndex(b.Binary(OpKind::kRem, index, b.I64(1)), b.Dim(in[0], 0))}));
               return b.Build(DType::kF32, {b.Dim(in[1], 0)}, block);
             });
  cases_.Add("every third, from the second on", {Tensor(DType::kF32, {-1})}, Tensor(DType::kF32, {-1}), [this](Builder& b, const In& in) {
    const ValueId n = b.Dim(in[0], 0);
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Mul(b.Load(in[0], {b.Add(b.Mul(b.Param(0), b.I64(3)), b.I64(1))}), b.F32(0.5f)));
    return b.Build(DType::kF32, {b.Binary(OpKind::kDiv, b.Add(n, b.I64(1)), b.I64(3))}, block);
  });
  cases_.Add("planes read backwards", {image}, Tensor(DType::kF32, {-1, 3, -1}), [this](Builder& b, const In& in) {
    const ValueId w = b.Dim(in[0], 1);
    const ir::BlockId block = b.Open({I64(), I64(), I64()});
    const ValueId x = b.Sub(b.Sub(w, b.I64(1)), b.Param(2));
    b.Close(b.Convert(b.Load(in[0], {b.Param(0), x, b.Param(1)}), DType::kF32));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.I64(3), w}, block);
  });
  cases_.Add("in place of a batch's row", {matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    b.Close(b.Add(b.Load(in[0], {b.Param(0), b.Param(1)}), b.F32(1)));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.Dim(in[0], 1)}, block);
  });
  cases_.program.slots.back().store = ir::Store::kStaged;
  cases_.Add("a copy in place of a batch's row", {matrix}, matrix, [](Builder&, const In& in) { return in[0]; });
  cases_.program.slots.back().store = ir::Store::kStaged;
  cases_.Add("reshaped", {matrix}, Tensor(DType::kF32, {-1}),
             [](Builder& b, const In& in) { return b.Reshape(in[0], {b.Mul(b.Dim(in[0], 0), b.Dim(in[0], 1))}); });
  cases_.Add("of static size", {Tensor(DType::kF32, {28, 28})}, Tensor(DType::kF32, {28, 28}), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    b.Close(b.Mul(b.Load(in[0], {b.Param(0), b.Param(1)}), b.F32(3.0f)));
    return b.Build(DType::kF32, {b.I64(28), b.I64(28)}, block);
  });
  Check(kSizes);
}

TEST_F(BodyTest, ComparesTheIndexThatRuns) {
  const TypeId places = Tensor(DType::kI64, {-1}), rows = Tensor(DType::kF32, {-1, -1});
  for (const OpKind kind : {OpKind::kEq, OpKind::kNe, OpKind::kLt, OpKind::kLe}) {
    for (const bool is_first : {true, false}) {
      cases_.Add("one of a row", {places, rows}, rows, [this, kind, is_first](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64()});
        const ValueId x = b.Param(1), place = b.Load(in[0], {b.Param(0)});
        b.Close(b.Select(b.Binary(kind, is_first ? x : place, is_first ? place : x), b.F32(1), b.F32(-0.0F)));
        return b.Build(DType::kF32, {b.Dim(in[0], 0), b.Dim(in[1], 0)}, block);
      });
    }
  }
  Check(kSizes, 2);
}

// Of f32 that are read one after the other they are found as integers: zeros and NaN of both signs, infinities, numbers below the normal
// ones.
TEST_F(BodyTest, TheLeastAndTheGreatestAmongSpecialNumbers) {
  for (const uint32_t bits : {0xffffffffU, 0x807fffffU, 0x80000000U, 0xff800000U, 0x7fffffffU}) {
    for (const ReduceKind kind : {ReduceKind::kMin, ReduceKind::kMax}) {
      for (const bool is_neg : {false, true}) {
        cases_.Add("special", {Tensor(DType::kI32, {-1})}, Scalar(DType::kF32), [this, bits, kind, is_neg](Builder& b, const In& in) {
          const ir::BlockId block = b.Open({I64()});
          const ValueId masked = b.Binary(OpKind::kAnd, b.Load(in[0], {b.Param(0)}), b.Scalar(DType::kI32, bits));
          const ValueId element = b.Bitcast(masked, DType::kF32);
          b.Close(is_neg ? b.Unary(OpKind::kNeg, element) : element);
          return b.Reduce(kind, DType::kF32, b.Dim(in[0], 0), block);
        });
      }
    }
  }
  Check({0, 1, 2, 3, 17, 64, 100, 333}, 4);
}

TEST_F(BodyTest, ReductionsInTheirFixedOrder) {
  with_o0_ = false;
  for (const DType dtype : {DType::kI32, DType::kU64, DType::kF32, DType::kF64}) {
    for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kProd, ReduceKind::kMin, ReduceKind::kMax}) {
      const std::string name = std::string(ir::NameOf(dtype)) + " reduction " + std::to_string(static_cast<int>(kind));
      const TypeId vector = Tensor(dtype, {-1});
      cases_.Add(name, {vector}, Scalar(dtype), [this, dtype, kind](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.Param(0)}));
        return b.Reduce(kind, dtype, b.Dim(in[0], 0), block);
      });
      cases_.Add(name + " of 5", {Tensor(dtype, {5})}, Scalar(dtype), [this, dtype, kind](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.Param(0)}));
        return b.Reduce(kind, dtype, b.I64(5), block);
      });
      cases_.Add(name + " of columns", {Tensor(dtype, {-1, -1})}, vector, [this, dtype, kind](Builder& b, const In& in) {
        const ir::BlockId outer = b.Open({I64()});
        const ValueId column = b.Param(0);
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Load(in[0], {b.Param(0), column}));
        b.Close(b.Reduce(kind, dtype, b.Dim(in[0], 0), block));
        return b.Build(dtype, {b.Dim(in[0], 1)}, outer);
      });
    }
  }
  for (const ReduceKind kind : {ReduceKind::kAny, ReduceKind::kAll}) {
    cases_.Add("bools", {Tensor(DType::kBool, {-1})}, Scalar(DType::kBool), [this, kind](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      b.Close(b.Load(in[0], {b.Param(0)}));
      return b.Reduce(kind, DType::kBool, b.Dim(in[0], 0), block);
    });
  }
  Check(kSizes, 2);
}

TEST_F(BodyTest, ReductionsOverMoreThanALoad) {
  const TypeId vector = Tensor(DType::kF32, {-1}), matrix = Tensor(DType::kF32, {-1, -1}), f32 = Scalar(DType::kF32);
  cases_.Add("dot", {vector, vector}, f32, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Mul(b.Load(in[0], {b.Param(0)}), b.Load(in[1], {b.Param(0)})));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), block);
  });
  cases_.Add("every other, reversed and shifted", {vector}, f32, [this](Builder& b, const In& in) {
    const ValueId n = b.Dim(in[0], 0);
    const ir::BlockId block = b.Open({I64()});
    const ValueId twice = b.CheckIndex(b.Mul(b.Param(0), b.I64(2)), b.Add(n, b.I64(1)));
    const ValueId reversed = b.Load(in[0], {b.Sub(b.Sub(n, b.I64(1)), b.Param(0))});
    const ValueId shifted = b.Load(in[0], {b.CheckIndex(b.Add(b.Param(0), b.I64(0)), n)});
    b.Close(b.Add(b.Add(b.Convert(twice, DType::kF32), reversed), shifted));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Binary(OpKind::kDiv, n, b.I64(2)), block);
  });
  cases_.Add("runs past the end", {vector}, f32, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(in[0], {b.CheckIndex(b.Add(b.Param(0), b.I64(1)), b.Dim(in[0], 0))}));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), block);
  });
  cases_.Add("with an if", {vector}, f32, [this, f32](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    const ValueId x = b.Load(in[0], {b.Param(0)});
    const ValueId positive = b.Emit(OpKind::kLt, Scalar(DType::kBool), {b.F32(0), x});
    const ir::BlockId then = b.Open({});
    const ir::BlockId then_closed = b.Close(b.Mul(x, b.F32(2)));
    const ir::BlockId otherwise = b.Open({});
    const ir::BlockId otherwise_closed = b.Close(b.F32(-1));
    EXPECT_EQ(then, then_closed);
    EXPECT_EQ(otherwise, otherwise_closed);
    b.Close(b.If(positive, f32, then, otherwise));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), block);
  });
  cases_.Add("matrix product", {matrix, matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId outer = b.Open({I64(), I64()});
    const ValueId i = b.Param(0), j = b.Param(1);
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Mul(b.Load(in[0], {i, b.Param(0)}), b.Load(in[1], {j, b.Param(0)})));
    b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 1), block));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.Dim(in[1], 0)}, outer);
  });
  cases_.Add("softmax", {vector}, vector, [this](Builder& b, const In& in) {
    const ValueId n = b.Dim(in[0], 0);
    const ir::BlockId top = b.Open({I64()});
    b.Close(b.Load(in[0], {b.Param(0)}));
    const ValueId most = b.Reduce(ReduceKind::kMax, DType::kF32, n, top);
    const ir::BlockId each = b.Open({I64()});
    b.Close(ir::EmitMath(b, OpKind::kExp, b.Sub(b.Load(in[0], {b.Param(0)}), most)));
    const ValueId powers = b.Build(DType::kF32, {n}, each);
    const ir::BlockId add = b.Open({I64()});
    b.Close(b.Load(powers, {b.Param(0)}));
    const ValueId total = b.Reduce(ReduceKind::kSum, DType::kF32, n, add);
    const ir::BlockId share = b.Open({I64()});
    b.Close(b.Binary(OpKind::kDiv, b.Load(powers, {b.Param(0)}), total));
    return b.Build(DType::kF32, {n}, share);
  });
  cases_.Add("row maximum through a row of its own", {matrix}, vector, [this](Builder& b, const In& in) {
    const ir::BlockId outer = b.Open({I64()});
    const ValueId row = b.Param(0);
    const ir::BlockId fill = b.Open({I64()});
    b.Close(b.Mul(b.Load(in[0], {row, b.Param(0)}), b.F32(0.5f)));
    const ValueId half = b.Build(DType::kF32, {b.Dim(in[0], 1)}, fill);
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Load(half, {b.Param(0)}));
    b.Close(b.Reduce(ReduceKind::kMax, DType::kF32, b.Dim(in[0], 1), block));
    return b.Build(DType::kF32, {b.Dim(in[0], 0)}, outer);
  });
  Check(kSizes, 3);
}

TEST_F(BodyTest, MathFunctions) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const TypeId vector = Tensor(dtype, {-1});
    for (const OpKind kind : {OpKind::kExp, OpKind::kLog, OpKind::kTanh, OpKind::kErf, OpKind::kSin, OpKind::kCos}) {
      cases_.Add(ir::InfoOf(kind).name, {vector}, vector, [this, dtype, kind](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(ir::EmitMath(b, kind, b.Load(in[0], {b.Param(0)})));
        return b.Build(dtype, {b.Dim(in[0], 0)}, block);
      });
    }
    cases_.Add("pow", {vector, vector}, vector, [this, dtype](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64()});
      b.Close(ir::EmitMath(b, OpKind::kPow, b.Load(in[0], {b.Param(0)}), b.Load(in[1], {b.Param(0)})));
      return b.Build(dtype, {b.Dim(in[0], 0)}, block);
    });
  }
  Check({33, 100});
}

}  // namespace
}  // namespace wf::lower::testing
