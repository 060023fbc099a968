#pragma once

#include <string>

#include "runtime/kernels/operation.h"

namespace wf::kernels {

// The same for elementwise operations whose kernels do the same, so that one is enough. Empty: of another contract, or with a format, or
// with a constant that its kernel may keep.
std::string ElementwiseKey(const Operation& operation);

}  // namespace wf::kernels
