#pragma once

#include <cstddef>
#include <cstdint>

namespace wf::kernels {

// What Gather takes along `axis` of a table of i8 or u8, as numbers: (x - zero point) * scale, of the scale's type. Each `block` elements
// along `block_axis`, another one, have a scale of their own. Packed: elements are of 4 bits, two in a byte of u8, the first in its low
// half, and so are zero points, each row of the last axis from a whole byte on. Inputs table, indices, scales, zero points, which may be
// absent: `zero`. A run fails where an index lies outside.
struct GatherBlocks {
  size_t axis = 0, block_axis = 1;
  int64_t block = 128;
  bool is_packed = false;
  uint8_t zero = 0;
};

}  // namespace wf::kernels
