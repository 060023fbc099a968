#pragma once

#include <atomic>
#include <cstdint>

namespace wf::sched {

// Ends runs of machine code that hold a loop up: what a task takes is an estimate, and the loop itself cannot interrupt what it runs.
// The loop counts where a run begins and where it ends; a thread that looks once in a while and finds the same run under way twice raises
// the stop word, which the code looks at. The word may come too late and meet the next run: so it asks for another try elsewhere, never
// for a failure.
// Thread: one loop, and one thread that looks.   Cost: two stores and a load a run, in a line of the loop's own.
class alignas(64) LongRun {
 public:
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
  void Look() noexcept {
    const uint64_t now = count_.load(std::memory_order_relaxed);
    if (now % 2 != 0 && now == seen_) std::atomic_ref<uint32_t>(stop_word_).store(1, std::memory_order_relaxed);
    seen_ = now;
  }

 private:
  void Count() noexcept { count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  std::atomic<uint64_t> count_{0};  // odd: a run is under way
  uint32_t stop_word_ = 0;
  alignas(64) uint64_t seen_ = 0;
};

}  // namespace wf::sched
