// exp .. pow as calls: of scalars, of lanes, in the arm of a selection and in a reduction, bit for bit what the interpreter computes.

#include "compiler/ir/math.h"

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

constexpr OpKind kAll[] = {OpKind::kExp, OpKind::kLog, OpKind::kTanh, OpKind::kErf, OpKind::kSin, OpKind::kCos, OpKind::kPow};

ValueId Of(Builder& b, OpKind kind, ValueId x) { return kind == OpKind::kPow ? b.Binary(kind, x, x) : b.Unary(kind, x); }

class MathTest : public BodyTest {
 protected:
  void AddAll(DType dtype) {
    const TypeId vector = Tensor(dtype, {-1});
    for (const OpKind kind : kAll) {
      cases_.Add(std::string("lanes of ") + ir::InfoOf(kind).name, {vector}, vector, [this, kind, dtype](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(Of(b, kind, b.Load(in[0], {b.Param(0)})));
        return b.Build(dtype, {b.Dim(in[0], 0)}, block);
      });
      cases_.Add(std::string("a scalar's ") + ir::InfoOf(kind).name, {Scalar(dtype)}, Scalar(dtype),
                 [kind](Builder& b, const In& in) { return Of(b, kind, in[0]); });
    }
  }
};

TEST_F(MathTest, OfF32) {
  AddAll(DType::kF32);
  Check(kSizes, 2);
}

TEST_F(MathTest, OfF64) {
  AddAll(DType::kF64);
  Check(kSizes, 2);
}

TEST_F(MathTest, InReductionsAndArms) {
  const TypeId vector = Tensor(DType::kF32, {-1});
  cases_.Add("sum of exp", {vector}, Scalar(DType::kF32), [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Unary(OpKind::kExp, b.Load(in[0], {b.Param(0)})));
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 0), block);
  });
  cases_.Add("sin and pow where x is large", {vector}, vector, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    const ValueId x = b.Load(in[0], {b.Param(0)});
    const ValueId large = b.Binary(OpKind::kPow, b.Unary(OpKind::kSin, x), b.F32(2));
    b.Close(b.Select(b.Binary(OpKind::kLt, b.F32(1), x), large, x));
    return b.Build(DType::kF32, {b.Dim(in[0], 0)}, block);
  });
  Check(kSizes, 2);
}

}  // namespace
}  // namespace wf::lower::testing
