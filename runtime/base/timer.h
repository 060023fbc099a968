#pragma once

#include "runtime/base/clock.h"

namespace wf::base {

// A point in time at which something wants to be told. Embedded in its owner; a timer wheel links it.
// Thread: loop-confined.   Errors: destroying an armed node is a mistake of the owner.
struct TimerNode {
  TimerNode* previous = nullptr;  // both null: not armed
  TimerNode* next = nullptr;
  TimePoint at = 0;
  void (*on_time)(TimerNode&) noexcept = nullptr;

  bool armed() const { return next != nullptr; }
};

}  // namespace wf::base
