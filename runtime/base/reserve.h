#pragma once

#include <atomic>
#include <cstddef>

namespace wf::base {

// Memory that is put by for the moment when an allocation that must not fail finds none: it goes back to the system, and memory is short
// from then on, so that whoever admits refuses what is new.
// Thread: Keep and BeginServing before other threads allocate; Refill on one thread; the rest thread-safe.
// Bounds: once the reserve is spent an allocation is tried again for a second or so, meanwhile work that ends gives memory back.
class Reserve {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;
  static constexpr unsigned kMostWaits = 1000;  // of a millisecond
  static bool Keep() noexcept;                  // false: the system has not even that
  static void BeginServing() noexcept { serves_.store(true, std::memory_order_relaxed); }
  static bool Refill() noexcept;  // true: memory was short, and is no longer
  static bool memory_is_short() noexcept { return short_.load(std::memory_order_relaxed); }
  // An allocation has failed `failed` times before, and now: returns when it may be tried again. When that is of no use the process ends
  // with a line, before it serves with status 1, later by SIGABRT.
  static void MakeRoom(unsigned failed) noexcept;

  // Of what must not fail: `allocate` until it answers other than null.
  template <typename Allocate>
  static void* Insist(Allocate&& allocate) noexcept {
    for (unsigned failed = 0;; ++failed) {
      if (void* const memory = allocate(); memory != nullptr) return memory;
      MakeRoom(failed);
    }
  }

 private:
  static void* Map(size_t bytes) noexcept;
  static inline std::atomic<bool> short_{false}, serves_{false};
  static inline std::atomic<void*> kept_{nullptr};
};

}  // namespace wf::base
