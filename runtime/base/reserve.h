#pragma once

#include <atomic>
#include <cstddef>

namespace wf::base {

// Memory that is put by for the moment when `new` finds none: the handler of `new` gives it back to the system and memory is short from
// then on, so that whoever admits refuses what is new. `new` that finds none again ends the process with a line.
// Thread: Keep before other threads start; Refill on one thread; the rest thread-safe.
class Reserve {
 public:
  static constexpr size_t kBytes = size_t{4} << 20;
  static bool Keep() noexcept;    // installs the handler. False: the system has not even that
  static bool Refill() noexcept;  // true: memory was short, and is no longer
  static bool memory_is_short() noexcept { return short_.load(std::memory_order_relaxed); }

 private:
  static void* Map(size_t bytes) noexcept;
  static void OnNoMemory() noexcept;
  static inline std::atomic<bool> short_{false};
  static inline std::atomic<void*> kept_{nullptr};
  static inline std::atomic<unsigned> given_up_{0};  // how often
};

}  // namespace wf::base
