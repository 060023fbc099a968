#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Convolution of 8-bit integers as Conv, each less its zero point; padding adds nothing. Inputs as IntegerInputs, where b are the weights;
// those of x and y have one scale and zero point, the weights one or one for each filter. To i32, wrapping, or with the scales and the
// bias, of i32, as IntegerMatMul.
struct IntegerConv {
  std::vector<int64_t> stride, dilation, pad_begin;
  int64_t group = 1;
};

}  // namespace wf::kernels
