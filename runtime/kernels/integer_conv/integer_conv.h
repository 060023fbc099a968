#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/integer_matmul/integer_matmul.h"

namespace wf::kernels {

// Convolution of 8-bit integers as Conv, each less its zero point; padding adds nothing. Inputs as IntegerInputs, where b are the weights;
// those of x and y have one scale and zero point, the weights one or one for each filter, as the bias. To i32, wrapping, or with the scales
// as IntegerMatMul.
struct IntegerConv {
  std::vector<int64_t> stride, dilation, pad_begin;
  int64_t group = 1;
  Within within = {};
};

}  // namespace wf::kernels
