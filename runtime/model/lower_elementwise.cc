#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

Status LowerUnary(Lowering& of) {
  using enum kernels::UnaryOp;
  constexpr std::pair<Op, kernels::UnaryOp> kUnaries[] = {
      {Op::kAbs, kAbs},
      {Op::kErf, kErf},
      {Op::kExp, kExp},
      {Op::kLeakyRelu, kLeakyRelu},
      {Op::kLog, kLog},
      {Op::kNeg, kNeg},
      {Op::kReciprocal, kReciprocal},
      {Op::kRelu, kRelu},
      {Op::kSigmoid, kSigmoid},
      {Op::kSqrt, kSqrt},
      {Op::kTanh, kTanh},
  };
  const auto* row = std::find_if(std::begin(kUnaries), std::end(kUnaries), [&](const auto& each) { return each.first == of.node.op; });
  WF_CHECK(row != std::end(kUnaries), of.node.Describe());
  of.lowered.params = kernels::Unary{row->second, of.node.op == Op::kLeakyRelu ? of.node.Float("alpha", 0.01f) : 0};
  return Status::Ok();
}

Status LowerBinary(Lowering& of) {
  using enum kernels::BinaryOp;
  constexpr std::pair<Op, kernels::BinaryOp> kBinaries[] = {
      {Op::kAdd, kAdd}, {Op::kDiv, kDiv}, {Op::kMul, kMul}, {Op::kPow, kPow}, {Op::kSub, kSub},
  };
  const auto* row = std::find_if(std::begin(kBinaries), std::end(kBinaries), [&](const auto& each) { return each.first == of.node.op; });
  WF_CHECK(row != std::end(kBinaries), of.node.Describe());
  of.lowered.params = kernels::Binary{row->second};
  return Status::Ok();
}

Status LowerCast(Lowering& of) {
  of.lowered.params = kernels::Cast{};
  return Status::Ok();
}

Status LowerWhere(Lowering& of) {
  of.lowered.params = kernels::Where{};
  return Status::Ok();
}

// Bounds that are f32 constants become parameters.
Status LowerClip(Lowering& of) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  kernels::Unary clip{kernels::UnaryOp::kClip, of.node.Float("min", -kInfinity), of.node.Float("max", kInfinity)};
  of.lowered.params = clip;
  if (of.context.in(0).dtype != WF_F32) return Status::Ok();
  for (size_t i = 1; i < 3; ++i) {
    if (!of.context.has_in(i)) continue;
    const onnx::Weight* weight = of.context.weight(i);
    if (weight == nullptr || !weight->held || weight->bytes.size() != 4) return Status::Ok();
    std::memcpy(i == 1 ? &clip.alpha : &clip.beta, weight->bytes.data(), 4);
  }
  of.lowered.params = clip;
  of.KeepInputs(1);
  return Status::Ok();
}

}  // namespace wf::model
