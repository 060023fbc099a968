#pragma once

#include <cstddef>

namespace wf::kernels {

// Softmax, or its logarithm, over the axes [begin, end) taken together.
struct Softmax {
  size_t begin = 0, end = 0;
  bool log = false;
};

}  // namespace wf::kernels
