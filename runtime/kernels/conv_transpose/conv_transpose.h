#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/unary/unary.h"

namespace wf::kernels {

// The transpose of a convolution: x [n, c, s...], weights [c, m/group, k...], bias [m] or absent -> [n, m, o...], then `then` on each
// element. Element i of x adds its filter to the output from i * stride - pad_begin on; what lies outside is left out, and what nothing
// reaches is the bias. 1 to 3 spatial axes; one value of each list per axis.
struct ConvTranspose {
  std::vector<int64_t> stride, dilation, pad_begin;
  int64_t group = 1;
  Unary then = {UnaryOp::kIdentity};
};

}  // namespace wf::kernels
