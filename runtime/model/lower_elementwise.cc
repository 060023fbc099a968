#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

// What the attributes make of a function, where they are not given what the standard says.
void ReadAttributes(const onnx::Node& node, kernels::Unary& unary) {
  using enum kernels::UnaryOp;
  switch (unary.op) {
    case kCelu:
    case kElu:
    case kThresholdedRelu:
      unary.alpha = node.Float("alpha", 1);
      break;
    case kGelu:
      if (node.String("approximate", "none") == "tanh") unary.op = kGeluTanh;
      break;
    case kHardSigmoid:
      unary.alpha = node.Float("alpha", 0.2f);
      unary.beta = node.Float("beta", 0.5f);
      break;
    case kIsInf:
      unary.alpha = node.Int("detect_negative", 1) != 0 ? 1.0f : 0.0f;
      unary.beta = node.Int("detect_positive", 1) != 0 ? 1.0f : 0.0f;
      break;
    case kLeakyRelu:
      unary.alpha = node.Float("alpha", 0.01f);
      break;
    case kSelu:
      unary.alpha = node.Float("alpha", 1.67326319217681884765625f);
      unary.beta = node.Float("gamma", 1.05070102214813232421875f);
      break;
    case kShrink:
      unary.alpha = node.Float("lambd", 0.5f);
      unary.beta = node.Float("bias", 0);
      break;
    default:
      break;
  }
}

}  // namespace

Status LowerUnary(Lowering& of) {
  using enum kernels::UnaryOp;
  constexpr std::pair<Op, kernels::UnaryOp> kUnaries[] = {
      {Op::kAbs, kAbs},
      {Op::kAcos, kAcos},
      {Op::kAcosh, kAcosh},
      {Op::kAsin, kAsin},
      {Op::kAsinh, kAsinh},
      {Op::kAtan, kAtan},
      {Op::kAtanh, kAtanh},
      {Op::kBitwiseNot, kBitNot},
      {Op::kCeil, kCeil},
      {Op::kCelu, kCelu},
      {Op::kCos, kCos},
      {Op::kCosh, kCosh},
      {Op::kElu, kElu},
      {Op::kErf, kErf},
      {Op::kExp, kExp},
      {Op::kFloor, kFloor},
      {Op::kGelu, kGelu},
      {Op::kHardSigmoid, kHardSigmoid},
      {Op::kHardSwish, kHardSwish},
      {Op::kIsInf, kIsInf},
      {Op::kIsNaN, kIsNan},
      {Op::kLeakyRelu, kLeakyRelu},
      {Op::kLog, kLog},
      {Op::kMish, kMish},
      {Op::kNeg, kNeg},
      {Op::kNot, kNot},
      {Op::kReciprocal, kReciprocal},
      {Op::kRelu, kRelu},
      {Op::kRound, kRound},
      {Op::kSelu, kSelu},
      {Op::kShrink, kShrink},
      {Op::kSigmoid, kSigmoid},
      {Op::kSign, kSign},
      {Op::kSin, kSin},
      {Op::kSinh, kSinh},
      {Op::kSoftplus, kSoftplus},
      {Op::kSoftsign, kSoftsign},
      {Op::kSqrt, kSqrt},
      {Op::kTan, kTan},
      {Op::kTanh, kTanh},
      {Op::kThresholdedRelu, kThresholdedRelu},
  };
  const auto* row = std::find_if(std::begin(kUnaries), std::end(kUnaries), [&](const auto& each) { return each.first == of.node.op; });
  WF_CHECK(row != std::end(kUnaries), of.node.Describe());
  kernels::Unary unary{row->second};
  ReadAttributes(of.node, unary);
  of.lowered.params = unary;
  return Status::Ok();
}

Status LowerBinary(Lowering& of) {
  using enum kernels::BinaryOp;
  constexpr std::pair<Op, kernels::BinaryOp> kBinaries[] = {
      {Op::kAdd, kAdd},
      {Op::kAnd, kBitAnd},
      {Op::kBitwiseAnd, kBitAnd},
      {Op::kBitwiseOr, kBitOr},
      {Op::kBitwiseXor, kBitXor},
      {Op::kDiv, kDiv},
      {Op::kEqual, kEqual},
      {Op::kGreater, kGreater},
      {Op::kGreaterOrEqual, kGreaterEqual},
      {Op::kLess, kLess},
      {Op::kLessOrEqual, kLessEqual},
      {Op::kMod, kMod},
      {Op::kMul, kMul},
      {Op::kOr, kBitOr},
      {Op::kPRelu, kPRelu},
      {Op::kPow, kPow},
      {Op::kSub, kSub},
      {Op::kXor, kBitXor},
      {Op::kBitShift, kShiftLeft},
  };
  const auto* row = std::find_if(std::begin(kBinaries), std::end(kBinaries), [&](const auto& each) { return each.first == of.node.op; });
  WF_CHECK(row != std::end(kBinaries), of.node.Describe());
  kernels::Binary binary{row->second};
  if (binary.op == kMod && of.node.Int("fmod", 0) != 0) binary.op = kFmod;
  if (binary.op == kShiftLeft && of.node.String("direction", "") == "RIGHT") binary.op = kShiftRight;
  of.lowered.params = binary;
  return Status::Ok();
}

// Two tensors are the common case, for which there are faster kernels.
Status LowerVariadic(Lowering& of) {
  using Of = kernels::Variadic::Op;
  struct Row {
    Op op;
    Of many;
    kernels::BinaryOp two;
  };
  constexpr Row kRows[] = {
      {Op::kMax, Of::kMax, kernels::BinaryOp::kMax},
      {Op::kMean, Of::kMean, kernels::BinaryOp::kAdd},
      {Op::kMin, Of::kMin, kernels::BinaryOp::kMin},
      {Op::kSum, Of::kSum, kernels::BinaryOp::kAdd},
  };
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return each.op == of.node.op; });
  WF_CHECK(row != std::end(kRows), of.node.Describe());
  of.lowered.params = kernels::Variadic{row->many};
  if (of.node.in.size() == 2 && row->many != Of::kMean) of.lowered.params = kernels::Binary{row->two};
  if (of.node.in.size() == 1) return LowerAlias(of);
  return Status::Ok();
}

Status LowerCast(Lowering& of) {
  const bool from_text = of.context.in(0).dtype == onnx::kStringType, to_text = of.known_out(0).dtype == onnx::kStringType;
  of.lowered.params = kernels::Cast{onnx::NarrowOf(of.known_out(0).dtype), of.node.Int("saturate", 1) != 0};
  if (from_text != to_text)
    of.lowered.params = kernels::TextOp{from_text ? kernels::TextOp::What::kToNumber : kernels::TextOp::What::kFromNumber, ""};
  of.lowered.alias = from_text && to_text;
  of.KeepInputs(1);  // of CastLike
  return Status::Ok();
}

Status LowerWhere(Lowering& of) {
  of.lowered.params = kernels::Where{};
  return Status::Ok();
}

// Bounds that are f32 constants become parameters. Those that are left out "default to numeric_limits::lowest() and numeric_limits::max()".
Status LowerClip(Lowering& of) {
  using Limits = std::numeric_limits<float>;
  const float high = of.context.in(0).dtype == WF_F64 ? Limits::infinity() : Limits::max();
  kernels::Unary clip{kernels::UnaryOp::kClip, of.node.Float("min", -high), of.node.Float("max", high)};
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
