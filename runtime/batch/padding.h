#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::batch {

// What `pad w to [..]` says of a model's rows: which bucket of `w` a row is filled up to, and what the extents then are.
// Thread: immutable.   Owns: the buckets, which a configuration may give.   Borrows: the policy's other tables (constant data of the plan).
// Cost: O(padded axes + log buckets), no allocation but where it is copied.
class Padding {
 public:
  Padding() = default;  // pads nothing
  explicit Padding(const wf_policy& policy)
      : buckets_(policy.bucket, policy.bucket + policy.n_buckets), pads_(policy.pad, policy.n_pads), crops_(policy.crop, policy.n_crops) {}

  bool pads() const { return !buckets_.empty(); }
  // Sorts of rows that may be run in batches, each with costs of its own: one per bucket, or one when nothing is padded.
  size_t kinds() const { return pads() ? buckets_.size() : 1; }
  // The sort of a row, below kinds(); kinds() for one that is longer than every bucket, or of which the extents contradict each other or
  // leave nothing of an output: it runs alone, as it is.
  size_t KindOf(const wf_tensor* const* inputs) const;
  int64_t bucket(size_t kind) const { return buckets_[kind]; }

  // The symbol's value in a row; nothing when its axes contradict each other.
  std::optional<int64_t> SymbolOf(const wf_tensor* const* inputs) const;
  // Gives the axes of an input (or of an output) the extents that they have when the symbol is `value`. False: one is negative.
  [[nodiscard]] bool SetInput(size_t port, int64_t value, wf_tensor& tensor) const;
  [[nodiscard]] bool SetOutput(size_t port, int64_t value, wf_tensor& tensor) const;

  friend bool operator==(const Padding& a, const Padding& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Padding& a, const Padding& b);  // by what they say

 private:
  std::vector<int64_t> buckets_;  // ascending; none: it pads nothing
  std::span<const wf_pad> pads_, crops_;
};

}  // namespace wf::batch
