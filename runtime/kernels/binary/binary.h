#pragma once

#include <cstdint>

namespace wf::kernels {

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kPow };

// a op b on each element, both broadcasting. Integers wrap; an integer divided by zero is 0. The exponent of kPow may have another type:
// a whole one of an integer wraps, as numpy.power does, by which ONNX's reference computes (onnx/reference/ops/op_pow.py), and a negative
// one leaves 0 of all integers but 1 and -1; of a float one, for which a result out of range is the machine's own there, it saturates.
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
};

}  // namespace wf::kernels
