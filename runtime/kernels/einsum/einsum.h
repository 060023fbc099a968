#pragma once

#include <cstddef>
#include <vector>

namespace wf::kernels {

// Sums of products over labelled axes. Labels are numbers: 0 to out_rank - 1 are the axes of the output in their order, the others are
// summed over. in: of each input the labels of its axes; one that stands twice takes the diagonal; an axis of extent 1 broadcasts.
struct Einsum {
  std::vector<std::vector<size_t>> in;
  size_t out_rank = 0, labels = 0;
};

}  // namespace wf::kernels
