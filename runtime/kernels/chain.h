#pragma once

#include <memory>

#include "runtime/kernels/kernel.h"

namespace wf::kernels {

// Two kernels as one. `first` reads the inputs of the same place; what it writes, `between` in its format, is input 0 of `second`, which
// reads the other inputs of the same place. Each has as many inputs as it reads; an input is read by one of them.
std::unique_ptr<Kernel> Chained(std::unique_ptr<Kernel> first, const TensorInfo& between, std::unique_ptr<Kernel> second);

// Two kernels that compute the same: `first` where each element of input 0, which is f32, is less than `most` without its sign, else
// `second`. Null when they do not read and write the same formats.
std::unique_ptr<Kernel> WhereBelow(float most, const TensorInfo& in, std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second);
bool AllBelow(float most, const float* elements, int64_t count);  // false for NaN

}  // namespace wf::kernels
