#include "runtime/base/clock.h"

#include <ctime>

namespace wf::base {

TimePoint SystemClock::Now() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec;
}

}  // namespace wf::base
