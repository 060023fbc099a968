#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Maximum or mean over windows of x [n, c, s...] -> [n, c, o...]. Padding does not take part in a maximum; it counts in a mean as zeros
// when count_padding is set, up to pad_end. A window without elements of x gives the lowest value, or 0. Maxima propagate NaN.
struct Pool {
  bool mean = false, count_padding = false;
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
};

}  // namespace wf::kernels
