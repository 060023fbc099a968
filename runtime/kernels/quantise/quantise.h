#pragma once

#include <cstdint>

namespace wf::kernels {

// How scales and zero points lie beside a tensor: one for all (block 0, axis -1), one for each index of an axis (block 0), or one for each
// `block` indices of the axis and each index of the others.
struct Scaling {
  int64_t axis = -1, block = 0;
};

// Inputs x, scale and zero point, which may be absent: to the integer type of the output, round(x / scale) + zero point, halves to even,
// the nearest there is of those out of range; of NaN the zero point.
struct Quantise {
  Scaling scaling;
};

// Inputs x, scale and zero point, which may be absent: (x - zero point) * scale, of the scale's type.
struct Dequantise {
  Scaling scaling;
};

// x f32 -> y u8, its scale f32 and its zero point u8: the range of x with 0 in 255 steps.
struct DynamicQuantise {};

}  // namespace wf::kernels
