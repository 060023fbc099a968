#pragma once

#include <cstdint>

namespace wf::kernels {

enum class UnaryOp : uint8_t {
  kIdentity,
  kAbs,
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kBitNot,
  kCeil,
  kCelu,
  kClip,
  kCos,
  kCosh,
  kElu,
  kErf,
  kExp,
  kFloor,
  kGelu,
  kGeluTanh,
  kHardSigmoid,
  kHardSwish,
  kIsInf,
  kIsNan,
  kLeakyRelu,
  kLog,
  kMish,
  kNeg,
  kNot,
  kReciprocal,
  kRelu,
  kRound,
  kSelu,
  kShrink,
  kSigmoid,
  kSign,
  kSin,
  kSinh,
  kSoftplus,
  kSoftsign,
  kSqrt,
  kSwish,
  kTan,
  kTanh,
  kThresholdedRelu,
};

// One function on each element, as ONNX defines it. alpha: the slope of kLeakyRelu, `alpha` of kCelu, kElu, kHardSigmoid, kSelu,
// kSwish (x sigmoid(alpha x)) and kThresholdedRelu, `lambd` of kShrink; beta: `beta` of kHardSigmoid, `gamma` of kSelu, `bias` of kShrink.
// kRound goes to even from halves. NaN stays NaN, but kThresholdedRelu and kShrink make 0 of it. kClip: to [alpha, beta], or to inputs 1
// and 2 when given as tensors (any type). Integers: kAbs, kBitNot, kClip, kErf, kNeg, kRelu, kShrink, kSign; those out of range wrap,
// fractions are cut. To bool: kNot of bool; kIsNan; kIsInf, of which alpha is 0 when the negative one does not count, beta the same of the
// positive one.
struct Unary {
  UnaryOp op = UnaryOp::kIdentity;
  float alpha = 0, beta = 0;
};

}  // namespace wf::kernels
