#pragma once

#include <cstddef>

namespace wf::kernels {

// Inputs of the contracts for products of 8-bit integers. Absent: zero points that are 0, a bias, and all scales of a product to i32.
struct IntegerInputs {
  enum : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero, kBias, kCount };
};

// Matrix product of 8-bit integers, each less its zero point; axes in front broadcast, vectors as in ONNX. Scales and zero points of a and
// b are one for all, one for each row of a or column of b, or [.., m, 1] and [.., 1, n], where the axes in front broadcast, too. To i32,
// wrapping; or with the scales to round(sum * a scale * b scale / y scale) + y zero point of 8 bits, halves to even, the nearest there is
// of those out of range.
struct IntegerMatMul {};

}  // namespace wf::kernels
