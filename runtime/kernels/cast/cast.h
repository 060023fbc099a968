#pragma once

#include "runtime/base/narrow.h"

namespace wf::kernels {

// Converts elements: to integers truncating and saturating, NaN to 0; to bool by difference from 0; to 16-bit floats rounding to even.
// To numbers of another format, which lie in the type of the output: floats as base::NearestOf says; of 4 bits, from floats as any
// integer, from integers the low bits.
struct Cast {
  base::Narrow to = base::Narrow::kNone;
  bool saturates = true;
};

}  // namespace wf::kernels
