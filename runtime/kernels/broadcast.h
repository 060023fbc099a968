#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace wf::kernels {

// Walks an output with K broadcasting inputs as runs along its innermost axis: axes that all inputs run through alike are merged, so equal
// shapes are one run.
// Thread: immutable.   Shapes: at most kMaxAxes axes once merged; offsets in elements.
template <size_t K>
class Broadcast {
 public:
  Broadcast(std::span<const int64_t> out, const std::array<std::span<const int64_t>, K>& in) {
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (out[axis] == 1) continue;
      std::array<bool, K> moves;
      for (size_t k = 0; k < K; ++k) {
        const size_t skip = out.size() - in[k].size();
        moves[k] = axis >= skip && in[k][axis - skip] != 1;
      }
      if (!extent_.empty() && moves == moves_.back()) {
        extent_.back() *= out[axis];
      } else {
        extent_.push_back(out[axis]);
        moves_.push_back(moves);
      }
    }
    if (extent_.empty()) {
      extent_.push_back(1);
      moves_.push_back({});
    }
    stride_.resize(extent_.size());
    std::array<int64_t, K> size;
    size.fill(1);
    for (size_t axis = extent_.size(); axis-- > 0;) {
      for (size_t k = 0; k < K; ++k) {
        stride_[axis][k] = moves_[axis][k] ? size[k] : 0;
        if (moves_[axis][k]) size[k] *= extent_[axis];
      }
    }
    for (const int64_t each : extent_) empty_ = empty_ || each == 0;
  }

  // run(out offset, input offsets, input strides 0 or 1, elements); offsets in elements.
  template <typename Run>
  void ForEach(Run run) const {
    if (empty_) return;
    const size_t inner = extent_.size() - 1;
    std::array<int64_t, kMaxAxes> at{};
    std::array<int64_t, K> offset{};
    for (int64_t out = 0;; out += extent_[inner]) {
      run(out, offset, stride_[inner], extent_[inner]);
      size_t axis = inner;
      while (axis-- > 0) {
        for (size_t k = 0; k < K; ++k) offset[k] += stride_[axis][k];
        if (++at[axis] < extent_[axis]) break;
        for (size_t k = 0; k < K; ++k) offset[k] -= stride_[axis][k] * extent_[axis];
        at[axis] = 0;
      }
      if (axis == SIZE_MAX) return;
    }
  }

 private:
  static constexpr size_t kMaxAxes = 8;
  std::vector<int64_t> extent_;
  std::vector<std::array<bool, K>> moves_;
  std::vector<std::array<int64_t, K>> stride_;
  bool empty_ = false;
};

}  // namespace wf::kernels
