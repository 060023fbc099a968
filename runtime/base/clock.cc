#include "runtime/base/clock.h"

#include <ctime>

#include "runtime/base/units.h"

namespace wf::base {

namespace {

int64_t Read(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

}  // namespace

TimePoint SystemClock::Now() const { return Read(CLOCK_MONOTONIC); }
int64_t SystemClock::WorkedNs() const { return Read(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace wf::base
