#pragma once

#include "runtime/abi/values.h"

namespace wf::batch {

void SetDense(wf_tensor& tensor);  // strides from extents

// The tensor's shape with the batch axis put in, dense. axis < 0: as it is.
wf_tensor WithAxis(const wf_tensor& row, int axis, int64_t extent);

}  // namespace wf::batch
