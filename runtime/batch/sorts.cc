#include "runtime/batch/sorts.h"

#include <algorithm>
#include <bit>

namespace wf::batch {

size_t Sorts::Of(size_t kind, const wf_tensor* const* inputs) const {
  if (kind >= padding_.kinds()) return count_;
  if (!by_size()) return kind;
  double elements = 0;
  for (uint32_t i = 0; i < model_.n_in; ++i) {
    wf_tensor input = *inputs[i];
    // Where a bucket gives no extent, the row fails when it is gathered.
    if (padding_.pads() && model_.batch_axis[i] >= 0 && !padding_.SetInput(i, padding_.bucket(kind), input)) continue;
    double own = 1;
    for (int axis = 0; axis < input.rank; ++axis) own *= static_cast<double>(input.dim[axis]);
    elements += own;
  }
  const auto whole = static_cast<uint64_t>(std::clamp(elements, 1.0, static_cast<double>(UINT64_C(1) << (kSizes - 1))));
  return kind * sizes_ + static_cast<size_t>(std::bit_width(whole) - 1);
}

}  // namespace wf::batch
