#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "runtime/bus/failure.h"

namespace wf::sched {

// The first failures of a request that settled, but for those that a fallback or another attempt took: what did not decide it is told
// beside.
// Thread: loop-confined.   Borrows: failures.   Bounds: kMost; later ones are not kept.
class Failures {
 public:
  static constexpr size_t kMost = 8;

  void Add(const bus::Failure& failure) {
    if (n_ < kMost && std::find(known_.begin(), End(), &failure) == End()) known_[n_++] = &failure;
  }
  template <typename IsTaken>
  void Take(IsTaken&& is_taken) {
    n_ = static_cast<size_t>(std::remove_if(known_.begin(), End(), [&](const bus::Failure* one) { return is_taken(*one); }) -
                             known_.begin());
  }
  void Clear() { n_ = 0; }
  std::span<const bus::Failure* const> all() const { return {known_.data(), n_}; }

 private:
  std::array<const bus::Failure*, kMost>::iterator End() { return known_.begin() + static_cast<ptrdiff_t>(n_); }

  std::array<const bus::Failure*, kMost> known_;
  size_t n_ = 0;
};

}  // namespace wf::sched
