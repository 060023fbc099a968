#pragma once

#include "runtime/workbench/tensor.h"

namespace wf::workbench {

// The same numbers as elements of another type, rounded as Cast does it. Errors: kUnimplemented, kResourceExhausted.
base::Result<Tensor> Convert(const Tensor& tensor, uint8_t dtype);

}  // namespace wf::workbench
