#pragma once

#include <cstdint>

namespace wf::base {

using TimePoint = int64_t;  // nanoseconds of a monotonic clock; only differences mean anything

// The time, injected so that tests own it.
// Thread: thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
};

// CLOCK_MONOTONIC.
class SystemClock final : public Clock {
 public:
  TimePoint Now() const override;
};

}  // namespace wf::base
