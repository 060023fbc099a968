#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Maximum or mean over windows of x [n, c, s...] -> [n, c, o...]. Padding does not take part in a maximum; it counts in a mean as zeros
// when count_padding is set, up to pad_end. A window without elements of x gives the lowest value, or 0. Maxima propagate NaN, and are of
// any numbers. power > 0: the root of that order of the sum of |x|^power instead.
struct Pool {
  bool mean = false, count_padding = false;
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
  int64_t power = 0;
};

}  // namespace wf::kernels
