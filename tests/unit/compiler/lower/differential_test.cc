// Random bodies: whatever the builder can put together from scalars, tensors, reductions and checks, the machine code of each CPU version
// does what the interpreter does.

#include <gtest/gtest.h>

#include "compiler/ir/scalar.h"
#include "tests/unit/compiler/lower/harness.h"

namespace wf::lower::testing {
namespace {

using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::ReduceKind;
using ir::TypeId;
using ir::ValueId;

constexpr int kBodies = 24;

// Grows one body from a seed. Every value that it makes is kept with its dtype, so that later operations find arguments.
class Grower {
 public:
  Grower(Builder& b, const std::vector<ValueId>& in, uint64_t seed) : b_(b), x_(in[0]), y_(in[1]), z_(in[2]), seed_(seed) {}

  // A tensor over the rows of x whose elements are grown.
  ValueId Grow() {
    const ValueId rows = b_.Dim(x_, 0), columns = b_.Dim(x_, 1);
    const bool flat = Pick(3) == 0;
    const ir::BlockId block = flat ? b_.Open({I64()}) : b_.Open({I64(), I64()});
    row_ = b_.Param(0);
    column_ = flat ? b_.I64(0) : b_.Param(1);
    const ValueId element = b_.Convert(Expression(3, DType::kF32), DType::kF32);
    b_.Close(element);
    std::vector<ValueId> extents{rows};
    if (!flat) extents.push_back(columns);
    const ValueId made = b_.Build(DType::kF32, extents, block);
    if (flat) return made;
    return b_.Reshape(made, {b_.Mul(rows, columns)});
  }

 private:
  uint64_t Pick(uint64_t n) { return Random(&seed_) % n; }
  TypeId I64() { return b_.ScalarType(DType::kI64); }

  ValueId Index(int depth, ValueId extent) {
    switch (Pick(4)) {
      case 0:
        return b_.CheckIndex(row_, extent);
      case 1:
        return b_.CheckIndex(b_.Add(row_, b_.I64(static_cast<int64_t>(Pick(3)) - 1)), extent);
      case 2:
        return b_.CheckIndex(inner_ != ValueId::kNone ? inner_ : column_, extent);
      default:
        return b_.CheckIndex(b_.Binary(OpKind::kRem, Low(Expression(depth - 1, DType::kI64)), b_.I64(7)), extent);
    }
  }
  ValueId Low(ValueId x) { return b_.Binary(OpKind::kBitAnd, x, b_.I64(0xff)); }

  ValueId Leaf(DType dtype) {
    switch (Pick(5)) {
      case 0:
        return dtype == DType::kF32 ? b_.F32(static_cast<float>(Pick(9)) - 4) : b_.I64(static_cast<int64_t>(Pick(9)) - 4);
      case 1:
        return b_.Convert(Pick(2) ? row_ : column_, dtype);
      case 2:
        return b_.Convert(b_.Load(z_, {b_.CheckIndex(b_.Binary(OpKind::kRem, row_, b_.I64(5)), b_.I64(5))}), dtype);
      case 3:
        return inner_ != ValueId::kNone ? b_.Convert(inner_, dtype) : b_.Convert(row_, dtype);
      default:
        return b_.Convert(b_.Load(x_, {row_, HasColumn() ? column_ : b_.CheckIndex(b_.I64(0), b_.Dim(x_, 1))}), dtype);
    }
  }
  bool HasColumn() { return !b_.IsConstant(column_); }

  ValueId Reduction(int depth, DType dtype) {
    static constexpr ReduceKind kKinds[] = {ReduceKind::kSum, ReduceKind::kProd, ReduceKind::kMin, ReduceKind::kMax};
    const ValueId extent = Pick(3) == 0 ? b_.I64(static_cast<int64_t>(Pick(20))) : b_.Dim(x_, 0);
    const ValueId outer = inner_;
    const ir::BlockId block = b_.Open({I64()});
    inner_ = b_.Param(0);
    const ValueId value = Pick(2) ? b_.Convert(b_.Load(y_, {b_.CheckIndex(inner_, b_.Dim(y_, 0))}), dtype) : Expression(depth - 1, dtype);
    b_.Close(value);
    inner_ = outer;
    return b_.Reduce(kKinds[Pick(4)], dtype, extent, block);
  }

  ValueId Choice(int depth, DType dtype) {
    const ValueId condition =
        b_.Emit(OpKind::kLt, b_.ScalarType(DType::kBool), {Expression(depth - 1, dtype), Expression(depth - 1, dtype)});
    if (Pick(2)) return b_.Select(condition, Expression(depth - 1, dtype), Expression(depth - 1, dtype));
    const ir::BlockId then = b_.Open({});
    b_.Close(Expression(depth - 1, dtype));
    const ir::BlockId otherwise = b_.Open({});
    b_.Close(Expression(depth - 1, dtype));
    return b_.If(condition, b_.ScalarType(dtype), then, otherwise);
  }

  ValueId Expression(int depth, DType dtype) {
    if (depth <= 0) return Leaf(dtype);
    static constexpr OpKind kBinary[] = {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kMin, OpKind::kMax};
    switch (Pick(9)) {
      case 0:
        return Reduction(depth - 1, dtype);
      case 1:
        return Choice(depth - 1, dtype);
      case 2:
        return b_.Convert(b_.Load(x_, {Index(depth - 1, b_.Dim(x_, 0)), Index(depth - 1, b_.Dim(x_, 1))}), dtype);
      case 3:
        return b_.Convert(Expression(depth - 1, dtype == DType::kF32 ? DType::kI64 : DType::kF32), dtype);
      case 4: {
        ValueId divisor = Expression(depth - 1, dtype);
        if (dtype == DType::kI64) divisor = b_.Emit(OpKind::kCheckDivisor, I64(), {divisor});
        return b_.Binary(OpKind::kDiv, Expression(depth - 1, dtype), divisor);
      }
      case 5:
        return b_.Unary(OpKind::kNeg, Expression(depth - 1, dtype));
      default:
        return b_.Binary(kBinary[Pick(5)], Expression(depth - 1, dtype), Expression(depth - 1, dtype));
    }
  }

  Builder& b_;
  ValueId x_, y_, z_, row_ = ValueId::kNone, column_ = ValueId::kNone, inner_ = ValueId::kNone;
  uint64_t seed_;
};

TEST(Differential, RandomBodiesAgreeOnEveryCpu) {
  Cases cases;
  const TypeId x = cases.types().Tensor(DType::kF32, {-1, -1}), y = cases.types().Tensor(DType::kI32, {-1}),
               z = cases.types().Tensor(DType::kU8, {5});
  const TypeId out = cases.types().Tensor(DType::kF32, {-1});
  for (int seed = 0; seed < kBodies; ++seed) {
    cases.Add("seed " + std::to_string(seed), {x, y, z}, out,
              [seed](Builder& b, const std::vector<ValueId>& in) { return Grower(b, in, static_cast<uint64_t>(seed) * 7919 + 1).Grow(); });
  }
  const Loaded generic(cases.program, "generic", 2, /*watch=*/true), narrow(cases.program, "x86-64-v3"),
      parts(cases.program, "x86-64-v3", 1, false, 20);
  ir::Interpreter oracle(cases.program);
  uint64_t seed = 99;
  int values = 0, failures = 0;
  for (const Cases::Case& one : cases.cases) {
    for (const std::vector<int64_t>& open : {std::vector<int64_t>{1, 1}, {7, 3}, {17, 18}, {33, 2}, {0, 4}}) {
      std::vector<ir::Value> inputs(cases.program.slots.size());
      for (const ir::SlotId slot : one.in)
        inputs[static_cast<size_t>(slot)] = RandomValue(cases.types(), cases.program[slot].type, open, &seed);
      const ir::Outcome wanted = oracle.RunBody(cases.program.tasks[one.task].body, inputs);
      ++(wanted.value ? values : failures);
      for (const Loaded* copy : {&generic, &narrow, &parts}) {
        const ir::Outcome got = copy->Run(one.task, inputs);
        const bool same = wanted.value && got.value ? ir::SameBits(cases.types(), out, *wanted.value, *got.value)
                                                    : Describe(cases.program, out, wanted) == Describe(cases.program, out, got);
        ASSERT_TRUE(same) << one.name << " extents " << open[0] << "x" << open[1] << (copy == &generic ? " generic" : " v3") << "\nwanted "
                          << Describe(cases.program, out, wanted) << "\ngot    " << Describe(cases.program, out, got);
      }
    }
  }
  EXPECT_GT(values, 20);  // the bodies must not all fail
  EXPECT_GT(failures, 10);
}

}  // namespace
}  // namespace wf::lower::testing
