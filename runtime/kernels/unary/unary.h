#pragma once

#include <cstdint>

namespace wf::kernels {

enum class UnaryOp : uint8_t {
  kIdentity,
  kAbs,
  kClip,
  kErf,
  kExp,
  kLeakyRelu,
  kLog,
  kNeg,
  kReciprocal,
  kRelu,
  kSigmoid,
  kSqrt,
  kTanh,
};

// One function on each element. kClip: to [alpha, beta]; kLeakyRelu: slope alpha. NaN stays NaN. Integers: kAbs, kClip, kNeg and kRelu,
// wrapping; the bounds of kClip are inputs 1 and 2 when given as tensors (any type), alpha and beta otherwise.
struct Unary {
  UnaryOp op = UnaryOp::kIdentity;
  float alpha = 0, beta = 0;
};

}  // namespace wf::kernels
