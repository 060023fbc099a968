#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/kernels/unary/unary.h"

namespace wf::kernels {

// Convolution (cross-correlation): x [n, c, s...], weights [m, c/group, k...], bias [m] or none -> [n, m, o...], plus an addend like it or
// none, then `then` on each element. 1 to 3 spatial axes; a value of each list per axis. The end padding follows from the output's shape.
struct Conv {
  std::vector<int64_t> stride, dilation, pad_begin;
  int64_t group = 1;
  Unary then = {UnaryOp::kIdentity};
};

// The way that is taken by the row behind one which adds up otherwise (Winograd), by itself.
inline constexpr std::string_view kDirect = "direct";

}  // namespace wf::kernels
