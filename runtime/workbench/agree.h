#pragma once

#include <string>

#include "runtime/workbench/tensor.h"

namespace wf::workbench {

// How far floats may be from what is expected: `absolute + relative * |expected|`; of bf16 by a unit of its last place, which is more, for
// some round to it and some cut. NaN is equal to NaN, an infinity to that of its sign;
// integers and bools have to be equal.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

struct Difference {
  int64_t differ = 0;                         // elements beyond the tolerance
  int64_t first = 0;                          // of these
  double max_absolute = 0, max_relative = 0;  // over all elements; infinite where one is NaN or infinite and the other is another
};

// Why `is` cannot be compared with `wanted`, another element type or shape; empty when it can.
std::string FindMisfit(const Tensor& is, const Tensor& wanted);
Difference Compare(const Tensor& is, const Tensor& wanted, const Tolerance& tolerance);  // REQUIRES: no misfit
std::string ElementText(const Tensor& tensor, int64_t at);

// "element [0, 3] is 1.5, expected 1.25; 12 of 60 differ", or the misfit; empty when they agree.
std::string WhyDifferent(const Tensor& is, const Tensor& wanted, const Tolerance& tolerance);

}  // namespace wf::workbench
