#pragma once

#include <cstdint>
#include <vector>

// Walks a row-major tensor beside the smaller one that a reduction makes of it.
namespace wf::kernels {

// Alternating groups of kept and reduced axes: strides into the output are 0 for reduced ones, and 1 for an innermost kept one.
struct Walk {
  std::vector<int64_t> extent, out_stride;
  int64_t out_count = 1;  // elements that are kept
  int64_t reduced = 1;    // elements behind each of them
};

inline Walk WalkOf(const std::vector<int64_t>& dim, const std::vector<bool>& is_reduced) {
  Walk walk;
  std::vector<bool> kind;
  for (size_t i = 0; i < dim.size(); ++i) {
    (is_reduced[i] ? walk.reduced : walk.out_count) *= dim[i];
    if (!kind.empty() && kind.back() == is_reduced[i]) {
      walk.extent.back() *= dim[i];
    } else {
      walk.extent.push_back(dim[i]);
      kind.push_back(is_reduced[i]);
    }
  }
  if (kind.empty()) {  // a scalar
    walk.extent.push_back(1);
    kind.push_back(false);
  }
  walk.out_stride.resize(kind.size());
  int64_t stride = 1;
  for (size_t i = kind.size(); i-- > 0;) {
    walk.out_stride[i] = kind[i] ? 0 : stride;
    if (!kind[i]) stride *= walk.extent[i];
  }
  return walk;
}

// run(elements, offset in the output, its stride there, how many) for each run along the innermost group, in the order of memory.
template <typename Run>
void ForEachRun(const Walk& walk, Run run) {
  const size_t inner = walk.extent.size() - 1;
  int64_t runs = 1;
  for (size_t i = 0; i < inner; ++i) runs *= walk.extent[i];
  const int64_t length = walk.extent[inner];
  if (length == 0) return;
  std::vector<int64_t> at(inner, 0);
  int64_t out = 0;
  for (int64_t i = 0; i < runs; ++i) {
    run(i * length, out, walk.out_stride[inner], length);
    for (size_t axis = inner; axis-- > 0;) {
      out += walk.out_stride[axis];
      if (++at[axis] < walk.extent[axis]) break;
      out -= walk.out_stride[axis] * walk.extent[axis];
      at[axis] = 0;
    }
  }
}

}  // namespace wf::kernels
