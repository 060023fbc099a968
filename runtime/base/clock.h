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
  // What the calling thread has worked: only differences mean anything. Where nobody else takes its CPU, as in a simulated world, as much
  // as time passes.
  virtual int64_t WorkedNs() const { return Now(); }
};

// CLOCK_MONOTONIC, and CLOCK_THREAD_CPUTIME_ID for work.
class SystemClock final : public Clock {
 public:
  TimePoint Now() const override;
  int64_t WorkedNs() const override;
};

}  // namespace wf::base
