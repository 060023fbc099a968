#pragma once

#include <cstdint>

namespace wf::kernels {

// x [.., k] times the transpose of weights whose elements have 2, 4 or 8 bits: [n, blocks, bytes of a block], the first element in the
// lowest bits. Each block has a scale [n * blocks] and a zero point, u8 with as many bits each, every row of blocks from a whole byte on,
// or in the type of x; absent: half of the range. Inputs x, weights, scales, zero points, bias [n]; the last two may be absent.
struct MatMulNBits {
  int64_t k = 0, n = 0, bits = 4, block = 32;
};

}  // namespace wf::kernels
