#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/abi/plan.h"
#include "runtime/batch/padding.h"

namespace wf::batch {

// Sorts of rows, each of which has a t(B) of its own: the buckets of `pad`, and where the file leaves other extents to requests, sizes of
// input in each: what a run of rows of one size takes says little of rows a thousand times as large.
// Thread: immutable.   Borrows: the model's row of the plan.   Cost: Of O(inputs), no allocation.
class Sorts {
 public:
  // by_size: requests decide on extents that are not padded.
  Sorts(const Padding& padding, const wf_model& model, bool by_size)
      : padding_(padding), model_(model), sizes_(by_size ? kSizes : 1), count_(padding.kinds() * sizes_) {}

  bool by_size() const { return sizes_ > 1; }
  size_t count() const { return count_; }
  // Of a row with these inputs of a kind that the padding tells; count() where that is longer than every bucket. Rows of equal shape,
  // after padding, are of one sort.
  size_t Of(size_t kind, const wf_tensor* const* inputs) const;
  size_t kind(size_t sort) const { return sort / sizes_; }
  // What all inputs of a row have together, at least; twice as many are the next sort's. 0 where sizes do not count.
  int64_t elements(size_t sort) const { return by_size() ? int64_t{1} << sort % sizes_ : 0; }
  bool smallest(size_t sort) const { return sort % sizes_ == 0; }  // of its bucket

 private:
  static constexpr size_t kSizes = 32;

  const Padding padding_;
  const wf_model& model_;
  const size_t sizes_, count_;
};

}  // namespace wf::batch
