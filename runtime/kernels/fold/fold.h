#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Sums columns [n, c * block..., positions] back into images [n, c, s...], each block where its window stood.
struct Fold {
  std::vector<int64_t> block, stride, dilation, pad_begin, pad_end;  // per axis
};

}  // namespace wf::kernels
