#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/integer_matmul/integer_matmul.h"

namespace wf::kernels {

// Of two tensors of 8-bit integers, which broadcast: from the numbers that they stand for, (a - a zero point) * a scale and alike, the sum
// or the product, held within bounds, then to 8 bits as Quantise. Scales are f32 and, as the zero points, one for all; zero points that are
// absent are 0. A faster implementation may be one off, where what is rounded is about half between two.
struct IntegerBinary {
  enum class Op : uint8_t { kAdd, kMul } op = Op::kAdd;
  Within within = {};
};

struct IntegerBinaryInputs {
  enum : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };
};

}  // namespace wf::kernels
