#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Elements of any type in the order of a walk over `extent`, by strides in elements of the input. A stride of 0 repeats. The output has as
// many elements as the walk has positions.
struct View {
  std::vector<int64_t> extent, stride;
};

// Parts along an axis, one output each, of extents `size`. Outputs that nobody reads are left out.
struct Split {
  size_t axis = 0;
  std::vector<int64_t> size;
};

// The triangle of each matrix above diagonal k, or below it, with the diagonal; 0 elsewhere.
struct Triangle {
  bool upper = true;
  int64_t k = 0;
};

}  // namespace wf::kernels
