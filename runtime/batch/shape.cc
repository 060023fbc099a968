#include "runtime/batch/shape.h"

namespace wf::batch {

void SetDense(wf_tensor& tensor) {
  int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    tensor.stride[i] = stride;
    stride *= tensor.dim[i];
  }
}

wf_tensor WithAxis(const wf_tensor& row, int axis, int64_t extent) {
  wf_tensor whole = row;
  if (axis >= 0) {
    whole.rank = static_cast<uint8_t>(row.rank + 1);
    for (int i = row.rank; i > axis; --i) whole.dim[i] = row.dim[i - 1];
    whole.dim[axis] = extent;
  }
  SetDense(whole);
  return whole;
}

}  // namespace wf::batch
