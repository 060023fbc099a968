#pragma once

#include <vector>

namespace wf::kernels {

// Sum or mean over the marked axes; the output has them as 1 or not at all. An empty sum is 0. Sums of f32 are kept in f64.
struct Reduce {
  std::vector<bool> axis;  // one per axis of the input
  bool mean = false;
};

}  // namespace wf::kernels
