#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/kernels/recurrent/shape.h"

// Numbers as bytes hold them: what DynamicQuantizeLinear and, of its results, DequantizeLinear give.
namespace wf::kernels {

template <typename T>
void ThroughBytes(const T* from, int64_t count, T* to) {
  T low = 0, high = 0;
  for (int64_t i = 0; i < count; ++i) {
    low = std::min(low, from[i]);
    high = std::max(high, from[i]);
  }
  const T scale = low == high ? T(1) : (high - low) / 255;
  const T zero = std::nearbyint(std::clamp(-low / scale, T(0), T(255)));
  for (int64_t i = 0; i < count; ++i) to[i] = (std::clamp(std::nearbyint(from[i] / scale) + zero, T(0), T(255)) - zero) * scale;
}

// x of the steps that a sequence has: what lies behind the longest moves no bound.
template <typename T>
void XThroughBytes(const RecurrentShape& s, const Buffers& b, T* to) {
  const int32_t* lengths = RecurrentIn<int32_t>(b, kRecurrentLengths);
  const bool are_cut = lengths != nullptr && s.batch > 0;
  const int64_t steps = are_cut ? *std::max_element(lengths, lengths + s.batch) : s.steps, rest = steps * s.batch * s.in;
  const T* x = RecurrentIn<T>(b, kRecurrentX);
  ThroughBytes(x, rest, to);
  std::copy(x + rest, x + s.steps * s.batch * s.in, to + rest);
}

}  // namespace wf::kernels
