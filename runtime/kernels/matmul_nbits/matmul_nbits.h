#pragma once

#include <cstdint>

namespace wf::kernels {

// x [.., k] times the transpose of weights whose elements have 2, 4 or 8 bits: [n, blocks, bytes of a block], the first element in the
// lowest bits. Each block has a scale [n * blocks] and a zero point, u8 with as many bits each, every row of blocks from a whole byte on,
// or in the type of x; absent: half of the range. Groups, i32 [k] or longer: of each element of a row of weights the block whose scale and
// zero point it has, instead of the one that it lies in. Inputs x, weights, scales, zero points, bias [n], groups; the last three may be
// absent. A run fails where a group is no block.
struct MatMulNBits {
  int64_t k = 0, n = 0, bits = 4, block = 32;
};

// x [.., k] times the transpose of weights [n, k] whose elements are codes of 4 bits, two in a byte, the first in its high half. Each
// `block` of them, counted over all rows, has a scale. A code stands for one of 16 numbers from -1 to 1: quantiles of a normal
// distribution, or floats of 4 bits. Inputs x, weights, scales.
struct MatMulBnb4 {
  int64_t k = 0, n = 0, block = 64;
  bool is_normal = false;
};

}  // namespace wf::kernels
