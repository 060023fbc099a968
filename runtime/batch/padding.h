#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/abi/plan.h"

namespace wf::batch {

// What `pad w to [..]` says of a model's rows: which bucket of `w` a row is filled up to, and what the extents then are.
// Thread: immutable.   Borrows: the policy's tables (constant data of the plan).   Cost: O(padded axes + log buckets), no allocation.
class Padding {
 public:
  Padding() = default;  // pads nothing
  explicit Padding(const wf_policy& policy) : policy_(policy.n_buckets == 0 ? nullptr : &policy) {}

  bool pads() const { return policy_ != nullptr; }
  // Sorts of rows that may be run in batches, each with costs of its own: one per bucket, or one when nothing is padded.
  size_t kinds() const { return pads() ? policy_->n_buckets : 1; }
  // The sort of a row, below kinds(); kinds() for one that is longer than every bucket, or of which the extents contradict each other or
  // leave nothing of an output: it runs alone, as it is.
  size_t KindOf(const wf_tensor* const* inputs) const;
  int64_t bucket(size_t kind) const { return policy_->bucket[kind]; }

  // The symbol's value in a row; nothing when its axes contradict each other.
  std::optional<int64_t> SymbolOf(const wf_tensor* const* inputs) const;
  // Gives the axes of an input (or of an output) the extents that they have when the symbol is `value`. False: one is negative.
  [[nodiscard]] bool SetInput(size_t port, int64_t value, wf_tensor& tensor) const;
  [[nodiscard]] bool SetOutput(size_t port, int64_t value, wf_tensor& tensor) const;

  friend bool operator==(const Padding& a, const Padding& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Padding& a, const Padding& b);  // by what they say

 private:
  const wf_policy* policy_ = nullptr;
};

}  // namespace wf::batch
