#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"

namespace wf::batch {

// How much waits in a queue that is ordered by class, inside a class by deadline: for those who ask, without a lock, what would go before
// something that came now.
// Thread: thread-safe, relaxed: it may be off by what comes and goes meanwhile.   Cost: O(classes), no lock.
class Backlog {
 public:
  void Add(uint8_t level, base::TimePoint deadline, int64_t amount) noexcept {
    Level& at = levels_[level];
    base::TimePoint latest = at.latest.load(std::memory_order_relaxed);
    if (at.amount.fetch_add(amount, std::memory_order_relaxed) == 0) return at.latest.store(deadline, std::memory_order_relaxed);
    while (latest < deadline && !at.latest.compare_exchange_weak(latest, deadline, std::memory_order_relaxed)) {
    }
  }
  void Remove(uint8_t level, int64_t amount) noexcept { levels_[level].amount.fetch_sub(amount, std::memory_order_relaxed); }

  // What surely goes before something of this class and deadline. Its own class counts only when nothing in it may be due later: how much
  // of it would be overtaken is not known.
  int64_t Before(uint8_t level, base::TimePoint deadline) const noexcept {
    int64_t sum = 0;
    for (int i = WF_HIGH; i <= level; ++i) {
      const Level& at = levels_[i];
      if (i < level || at.latest.load(std::memory_order_relaxed) <= deadline) sum += at.amount.load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  struct Level {
    std::atomic<int64_t> amount{0};
    std::atomic<base::TimePoint> latest{0};  // deadline since the class was last empty
  };
  Level levels_[WF_LOW + 1];
};

}  // namespace wf::batch
