#pragma once

#include <cstdint>

#include "runtime/base/narrow.h"

namespace wf::kernels {

// How scales and zero points lie beside a tensor: one for all (block 0, axis -1), one for each index of an axis (block 0), or one for each
// `block` indices of the axis and each index of the others.
struct Scaling {
  int64_t axis = -1, block = 0;
};

// Inputs x, scale and zero point, which may be absent: to the integer type of the output, round(x / scale) + zero point, halves to even,
// the nearest there is of those out of range; of NaN the zero point. To another format in the type of the output: to integers of 4 bits
// as to others; to floats x / scale + zero point, as base::NearestOf says.
struct Quantise {
  Scaling scaling;
  base::Narrow to = base::Narrow::kNone;
  bool saturates = true;
};

// Inputs x, scale and zero point, which may be absent: (x - zero point) * scale, of the scale's type. x and zero point may be f16, too.
struct Dequantise {
  Scaling scaling;
};

// x f32 -> y u8, its scale f32 and its zero point u8: the range of x with 0 in 255 steps.
struct DynamicQuantise {};

}  // namespace wf::kernels
