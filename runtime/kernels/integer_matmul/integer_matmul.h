#pragma once

#include <cstddef>
#include <limits>

namespace wf::kernels {

// Bounds that numbers are held within before they are rounded to 8 bits.   REQUIRES: low <= high.
struct Within {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

// Inputs of the contracts for products of 8-bit integers. Absent: zero points that are 0, a bias, and all scales of a product to i32.
struct IntegerInputs {
  enum : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero, kBias, kCount };
};

// Matrix product of 8-bit integers, each less its zero point; axes in front broadcast, vectors as in ONNX. Scales and zero points of a and
// b are one for all, one for each row of a or column of b, or [.., m, 1] and [.., 1, n], where the axes in front broadcast, too. To i32,
// wrapping; or with the scales to round(sum * a scale * b scale / y scale) + y zero point of 8 bits, halves to even, the nearest there is
// of those out of range, where a bias of i32, one for each column, is part of the sum, and sum * a scale * b scale is held within bounds.
// A faster implementation may be one off, where the scaled sum is about half between two. Or, with the scales of a and b alone, to f32:
// sum * (a scale * b scale), and a bias of f32.
struct IntegerMatMul {
  Within within = {};
};

}  // namespace wf::kernels
