#pragma once

#include <array>
#include <cstdint>

namespace wf::kernels {

// A convolution in two dimensions whose taps are moved by an offset of their own at each position, and read between the elements, which are
// 0 outside. Inputs x [n, c, h, w], weights [m, c/group, kh, kw], offset [n, parts * kh * kw * 2, oh, ow] (down, then right), bias [m] or
// absent, mask [n, parts * kh * kw, oh, ow] or absent, with which a tap is multiplied. The channels lie in `parts` parts of equal offsets.
struct DeformConv {
  std::array<int64_t, 2> stride, dilation, pad_begin;
  int64_t group = 1, parts = 1;
};

}  // namespace wf::kernels
