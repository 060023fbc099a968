#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/kernels/operation.h"

// What the makers of primitives share of shapes.
namespace wf::kernels::onednn {

inline bool AnyEmpty(const Operation& operation) {
  bool empty = operation.out[0].count() == 0;
  for (const TensorInfo& in : operation.in) empty = empty || (in.dtype != 0 && in.count() == 0);
  return empty;
}

// The extents of a window of a convolution or of pooling, as oneDNN takes them.
struct Sliding {
  dnnl_dims_t stride{}, dilation{}, begin{}, end{};
};

// The padding at the end is what the output's extent implies.
template <typename Window>
Sliding SlidingOf(const Operation& operation, const Window& window, std::span<const int64_t> kernel) {
  Sliding sliding;
  for (size_t i = 0; i < kernel.size(); ++i) {
    sliding.stride[i] = window.stride[i];
    sliding.dilation[i] = window.dilation[i] - 1;
    sliding.begin[i] = window.pad_begin[i];
    const int64_t reach = window.dilation[i] * (kernel[i] - 1) + 1;
    sliding.end[i] = (operation.out[0].dim[2 + i] - 1) * window.stride[i] + reach - operation.in[0].dim[2 + i] - window.pad_begin[i];
  }
  return sliding;
}

// [m, c/group, k...] seen as [group, m/group, c/group, k...].
inline std::vector<int64_t> GroupedDim(const std::vector<int64_t>& dim, int64_t group) {
  if (group == 1) return dim;
  std::vector<int64_t> grouped = {group, dim[0] / group};
  grouped.insert(grouped.end(), dim.begin() + 1, dim.end());
  return grouped;
}

}  // namespace wf::kernels::onednn
