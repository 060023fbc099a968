#pragma once

#include <atomic>

#include "runtime/base/clock.h"

namespace wf::test {

// Time that moves only when the test says so. Threads of what is tested may read it meanwhile.
class FakeClock : public base::Clock {
 public:
  base::TimePoint Now() const override { return now_; }
  void AdvanceNs(int64_t ns) { now_ += ns; }
  void AdvanceTo(base::TimePoint at) {
    if (at > now_) now_ = at;
  }

 private:
  std::atomic<base::TimePoint> now_ = INT64_C(1'000'000'000);
};

}  // namespace wf::test
