#pragma once

namespace wf::kernels {

// Converts elements: to integers truncating and saturating, NaN to 0; to bool by difference from 0; to 16-bit floats rounding to even.
struct Cast {};

}  // namespace wf::kernels
