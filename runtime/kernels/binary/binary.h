#pragma once

#include <cstdint>

namespace wf::kernels {

enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMod,   // with the sign of b
  kFmod,  // with the sign of a
  kMax,
  kMin,
  kPRelu,  // of a, where b is the slope
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kEqual,  // from here on to bool
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
};
constexpr bool GivesBool(BinaryOp op) { return op >= BinaryOp::kEqual; }

// a op b on each element, both broadcasting. Integers wrap; an integer divided by zero is 0, as is what is left of it. kMax and kMin give
// NaN where one is. kBit* take integers, and bool for its And, Or and Xor; a shift by all bits of an unsigned integer or more leaves 0.
// The exponent of kPow may have another type:
// a whole one of an integer wraps, as numpy.power does, by which ONNX's reference computes (onnx/reference/ops/op_pow.py), and a negative
// one leaves 0 of all integers but 1 and -1; of a float one, for which a result out of range is the machine's own there, it saturates.
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
};

}  // namespace wf::kernels
