#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/clock.h"
#include "runtime/base/timer.h"

namespace wf::sched {

// Timers by the millisecond: 512 slots of 1 ms, 1024 slots of 512 ms; what is further away is put back in when the end comes near.
// Thread: loop-confined.   Borrows: armed nodes.   Bounds: none of its own.   Cost: Arm, Cancel and NextAt O(1); no allocation.
class Wheel {
 public:
  explicit Wheel(base::TimePoint now);
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  // Fires at the first Advance that is not before `at`, rounded up to the millisecond. REQUIRES: not armed.
  void Arm(base::TimerNode& node, base::TimePoint at) noexcept;
  void Cancel(base::TimerNode& node) noexcept;  // harmless when not armed
  // Not after the first timer, perhaps before it; INT64_MAX: none.
  base::TimePoint NextAt() const noexcept;
  void Advance(base::TimePoint now) noexcept;  // calls on_time of what is due; those may arm and cancel

 private:
  static constexpr int kNear = 512, kFar = 1024, kNearBits = 9;
  void Place(base::TimerNode& node) noexcept;
  int64_t NextTick() const noexcept;
  void Cascade() noexcept;
  void Fire() noexcept;

  int64_t tick_;              // of the last Advance
  int64_t next_ = INT64_MAX;  // none fires before it
  int count_ = 0;
  std::array<base::TimerNode, kNear> near_;
  std::array<base::TimerNode, kFar> far_;
};

}  // namespace wf::sched
