#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/clock.h"

namespace wf::sched {

// Ends runs of machine code that hold a loop up: what a task takes is an estimate, and the loop itself cannot interrupt what it runs.
// The loop counts where a run begins and where it ends; a thread that looks every some milliseconds and finds the same run under way again
// raises the stop word, which the code looks at, once the run has had kLongNs of CPU or has waited for something else for kStuckNs: a loop
// that others have kept off its CPU is no reason. The word may come too late and meet the next run: so it asks for another try elsewhere,
// never for a failure.
// Thread: one loop, and one thread that looks.   Cost: two stores and a load a run, in a line of the loop's own.
class alignas(64) LongRun {
 public:
  static constexpr int64_t kLongNs = 4'000'000, kStuckNs = 100'000'000;

  // ---- the loop's ----
  const uint32_t* stop_word() const { return &stop_word_; }
  void Begin() noexcept { Count(); }
  bool End() noexcept {  // true: it was told to stop, whether or not it has
    Count();
    const std::atomic_ref<uint32_t> stop(stop_word_);
    if (stop.load(std::memory_order_relaxed) == 0) [[likely]]
      return false;
    stop.store(0, std::memory_order_relaxed);
    return true;
  }

  // ---- the other thread's ----
  // `cpu_ns`: that the loop's thread has had. False: nothing is run, and nothing was since the last look.
  bool Look(base::TimePoint now, int64_t cpu_ns) noexcept {
    const uint64_t count = count_.load(std::memory_order_relaxed);
    if (count != seen_) {
      seen_ = count;
      seen_at_ = now;
      seen_cpu_ns_ = cpu_ns;
      return true;
    }
    const bool runs = count % 2 != 0;
    if (runs && (cpu_ns - seen_cpu_ns_ >= kLongNs || now - seen_at_ >= kStuckNs))
      std::atomic_ref<uint32_t>(stop_word_).store(1, std::memory_order_relaxed);
    return runs;
  }

 private:
  void Count() noexcept { count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  std::atomic<uint64_t> count_{0};  // odd: a run is under way
  uint32_t stop_word_ = 0;
  alignas(64) uint64_t seen_ = 0;
  base::TimePoint seen_at_ = 0;
  int64_t seen_cpu_ns_ = 0;
};

}  // namespace wf::sched
