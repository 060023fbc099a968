#pragma once

#include <cstdint>

namespace wf::kernels {

enum class BinaryOp : uint8_t { kAdd, kSub, kMul, kDiv, kPow };

// a op b on each element, both broadcasting. Integers wrap; an integer divided by zero is 0. The exponent of kPow may have another type.
struct Binary {
  BinaryOp op = BinaryOp::kAdd;
};

}  // namespace wf::kernels
