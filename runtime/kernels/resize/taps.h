#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/kernels/resize/resize.h"

namespace wf::kernels::ref {

// What each position of an output axis is made of: `count` elements of the input axis, and their weights. An index of -1 in the first
// place: nothing, the position lies outside.
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// Nothing: they would take more memory than kMostTaps.
std::optional<Taps> TapsOf(const Resize& resize, size_t axis, int64_t in, int64_t out);

}  // namespace wf::kernels::ref
