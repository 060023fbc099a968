#pragma once

#include <algorithm>
#include <cstdint>

namespace wf::base {

// How often a peer may do what costs it nothing: so much at once, then so much a second.
// Thread: loop-confined.
class Budget {
 public:
  explicit Budget(int64_t burst) : burst_(burst), left_(burst) {}
  static constexpr int64_t kSecondsToFill = 30;

  bool Spend(int64_t now_ms) noexcept {
    if (left_ == burst_) since_ms_ = now_ms;
    const int64_t earned = (now_ms - since_ms_) * burst_ / (1000 * kSecondsToFill);
    if (earned > 0) {
      left_ = std::min(burst_, left_ + earned);
      since_ms_ = now_ms;
    }
    return left_-- > 0;
  }
  // Less is left than those who stop now may still need: a reset of each of their calls.
  bool is_low() const noexcept {
    constexpr int64_t kPart = 4;
    return left_ < burst_ / kPart;
  }

 private:
  int64_t burst_, left_, since_ms_ = 0;
};

}  // namespace wf::base
