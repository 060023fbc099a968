#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/kernels/operation.h"

// Windows that slide over planes of x [n, c, s...]: what the reference kernels of pooling share.
namespace wf::kernels::ref {

using PlaneAxes = std::array<int64_t, 3>;

// Of a plane with fewer axes those in front are `rest`.
inline PlaneAxes PlaneAxesOf(std::span<const int64_t> axes, int64_t rest) {
  PlaneAxes all = {rest, rest, rest};
  std::copy(axes.begin(), axes.end(), all.end() - static_cast<std::ptrdiff_t>(axes.size()));
  return all;
}

struct Windows {
  int64_t planes;
  PlaneAxes in, out, kernel, stride, dilation, pad;
};

template <typename Params>
Windows WindowsOf(const Params& params, const Operation& operation) {
  const std::span<const int64_t> in = operation.in[0].dim, out = operation.out[0].dim;
  return {.planes = in[0] * in[1],
          .in = PlaneAxesOf(in.subspan(2), 1),
          .out = PlaneAxesOf(out.subspan(2), 1),
          .kernel = PlaneAxesOf(params.kernel, 1),
          .stride = PlaneAxesOf(params.stride, 1),
          .dilation = PlaneAxesOf(params.dilation, 1),
          .pad = PlaneAxesOf(params.pad_begin, 0)};
}

// visit(plane, place of the window in it, number of its element of the output)
template <typename Visit>
void Slide(const Windows& windows, Visit visit) {
  int64_t out = 0;
  for (int64_t plane = 0; plane < windows.planes; ++plane) {
    PlaneAxes at;
    for (at[0] = 0; at[0] < windows.out[0]; ++at[0]) {
      for (at[1] = 0; at[1] < windows.out[1]; ++at[1]) {
        for (at[2] = 0; at[2] < windows.out[2]; ++at[2]) visit(plane, at, out++);
      }
    }
  }
}

}  // namespace wf::kernels::ref
