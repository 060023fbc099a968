#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Maximum or mean over windows of x [n, c, s...] -> [n, c, o...]. Padding does not take part in a maximum; it counts in a mean as zeros
// when count_padding is set, up to pad_end. A window without elements of x gives the lowest value, or 0. Maxima propagate NaN, and are of
// any numbers; output 1 of them, when somebody reads it, is where each lies in x, i64, where the spatial axes are counted from the first on
// if columns is set. power > 0: the root of that order of the sum of |x|^power instead.
struct Pool {
  bool mean = false, count_padding = false;
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
  int64_t power = 0;
  bool columns = false;
};

}  // namespace wf::kernels
