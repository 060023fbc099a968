#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "runtime/kernels/kernel.h"

// The loops of convolutions, whatever the elements.
namespace wf::kernels::ref {

// Shapes with three spatial axes, leading ones filled with 1.
struct ConvShape {
  int64_t n, c, m, group;
  std::array<int64_t, 3> in, out, kernel, stride, dilation, pad;

  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

template <typename Window>
ConvShape ConvShapeOf(const Window& window, const TensorInfo& x, const TensorInfo& w, const TensorInfo& y) {
  ConvShape shape{x.dim[0], x.dim[1], w.dim[0], window.group, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  const size_t spatial = x.dim.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    const size_t at = 3 - spatial + i;
    shape.in[at] = x.dim[2 + i];
    shape.out[at] = y.dim[2 + i];
    shape.kernel[at] = w.dim[2 + i];
    shape.stride[at] = window.stride[i];
    shape.dilation[at] = window.dilation[i];
    shape.pad[at] = window.pad_begin[i];
  }
  return shape;
}

// Places [first, last) of an output axis whose element under a tap at `shift` lies within the input.
inline std::array<int64_t, 2> Inside(int64_t shift, int64_t stride, int64_t in, int64_t out) {
  const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t last = in - 1 < shift ? 0 : (in - 1 - shift) / stride + 1;
  return {first, std::min(last, out)};
}

// Adds one filter plane over one input plane to one output plane: y = add(y, w, x) for each element and tap.
template <typename X, typename W, typename Y, typename Add>
void AddPlane(const ConvShape& s, const X* x, const W* w, Y* y, Add add) {
  for (int64_t kd = 0; kd < s.kernel[0]; ++kd) {
    for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
      for (int64_t kw = 0; kw < s.kernel[2]; ++kw, ++w) {
        const int64_t shift = kw * s.dilation[2] - s.pad[2], step = s.stride[2];
        const auto [first, last] = Inside(shift, step, s.in[2], s.out[2]);
        for (int64_t d = 0; d < s.out[0]; ++d) {
          const int64_t z = d * s.stride[0] + kd * s.dilation[0] - s.pad[0];
          if (z < 0 || z >= s.in[0]) continue;
          for (int64_t h = 0; h < s.out[1]; ++h) {
            const int64_t v = h * s.stride[1] + kh * s.dilation[1] - s.pad[1];
            if (v < 0 || v >= s.in[1]) continue;
            const X* row = x + (z * s.in[1] + v) * s.in[2];
            Y* out = y + (d * s.out[1] + h) * s.out[2];
            for (int64_t k = first; k < last; ++k) out[k] = add(out[k], *w, row[k * step + shift]);
          }
        }
      }
    }
  }
}

}  // namespace wf::kernels::ref
