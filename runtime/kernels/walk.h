#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace wf::kernels {

inline int64_t CountOf(std::span<const int64_t> dim) {
  int64_t count = 1;
  for (const int64_t extent : dim) count *= extent;
  return count;
}

// Of a dense tensor, in elements.
inline std::vector<int64_t> StridesOf(std::span<const int64_t> dim) {
  std::vector<int64_t> stride(dim.size());
  int64_t size = 1;
  for (size_t i = dim.size(); i-- > 0;) {
    stride[i] = size;
    size *= dim[i];
  }
  return stride;
}

// The positions of a shape in order, with an offset by strides for each: for walks through one tensor in the shape of another.
// Thread: immutable.   REQUIRES: at most kMaxAxes axes.   Shapes: strides in elements, and they may be 0.
class StridedWalk {
 public:
  StridedWalk(std::span<const int64_t> dim, std::span<const int64_t> stride)
      : dim_(dim.begin(), dim.end()), stride_(stride.begin(), stride.end()), count_(CountOf(dim)) {}

  int64_t count() const { return count_; }

  // each(offset), count() times.
  template <typename Each>
  void ForEach(Each each) const {
    if (count_ == 0) return;
    int64_t at[kMaxAxes] = {}, offset = 0;
    for (int64_t left = count_; left > 0; --left) {
      each(offset);
      for (size_t axis = dim_.size(); axis-- > 0;) {
        offset += stride_[axis];
        if (++at[axis] < dim_[axis]) break;
        offset -= stride_[axis] * dim_[axis];
        at[axis] = 0;
      }
    }
  }

 private:
  static constexpr size_t kMaxAxes = 16;
  std::vector<int64_t> dim_, stride_;
  int64_t count_;
};

// A tensor as [outer, extent, inner] around one axis.
struct Around {
  int64_t outer = 1, extent = 1, inner = 1;
};
inline Around AroundAxis(std::span<const int64_t> dim, size_t axis) {
  return {CountOf(dim.first(axis)), dim[axis], CountOf(dim.subspan(axis + 1))};
}

}  // namespace wf::kernels
