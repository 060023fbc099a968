#pragma once

#include <memory>

#include "runtime/kernels/kernel.h"

namespace wf::kernels {

// Two kernels as one. `first` reads the inputs of the same place; what it writes, `between` in its format, is input 0 of `second`, which
// reads the other inputs of the same place. Each has as many inputs as it reads; an input is read by one of them.
std::unique_ptr<Kernel> Chained(std::unique_ptr<Kernel> first, const TensorInfo& between, std::unique_ptr<Kernel> second);

}  // namespace wf::kernels
