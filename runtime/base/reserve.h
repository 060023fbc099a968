#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace wf::base {

// Memory that is put by for the moment when an allocation that must not fail finds none: it is freed piece by piece, so that what else asks
// meanwhile takes no more than one. Memory is short from the first on, and from when somebody was refused a little that may fail, until
// half of the reserve is there again and beside it what one call takes, for which the other half is given; or, where that much is never
// there, until nothing has failed for a while: whether there is enough is for the next ones to find out. Meanwhile whoever admits refuses
// what is new, and whoever keeps what it no longer uses keeps nothing.
// Thread: Keep and BeginServing before other threads allocate; Refill on one thread; the rest thread-safe.
// Bounds: once the reserve is spent an allocation is tried again for a second or so, meanwhile work that ends gives memory back.
class Reserve {
  enum class Says : uint8_t { kNothing, kInsists, kMayFail };

 public:
  static constexpr size_t kPieceBytes = size_t{256} << 10, kPieces = 16;
  static constexpr unsigned kMostWaits = 1000;  // of a millisecond
  static constexpr int kCalmLooks = 10;         // of Refill, once a second
  // As much of it as there is; false: not even half. Where addresses are limited all threads share one arena of malloc from now on.
  static bool Keep() noexcept;
  static void BeginServing() noexcept { serves_.store(true, std::memory_order_relaxed); }
  // An allocation that may fail has, of so many bytes: where that is no more than one call takes, memory is short.
  static void NoteFailed(size_t bytes) noexcept;
  static bool Refill() noexcept;  // takes back what it can; true: memory was short, and is no longer
  static bool memory_is_short() noexcept { return short_.load(std::memory_order_relaxed); }
  // Not even a quarter of the reserve is left: there is no room for those who would be refused either.
  static bool is_nearly_spent() noexcept { return memory_is_short() && left_.load(std::memory_order_relaxed) < kPieces / 4; }
  // An allocation has failed `failed` times before, and now: returns when it may be tried again. When that is of no use the process ends
  // with a line, before it serves with status 1, later by SIGABRT.
  static void MakeRoom(unsigned failed) noexcept;

  // Whether this thread's allocations may fail, as those of users' code do. Until this is said the process's first thread insists, and so
  // does a base::Thread; those of any other thread, which users' code has started, may fail.
  static void LetFail(bool may_fail) noexcept { says_ = may_fail ? Says::kMayFail : Says::kInsists; }
  // What the process does for users' code while that runs: it may not fail.
  class OwnWork {
   public:
    OwnWork() noexcept : before_(std::exchange(says_, Says::kInsists)) {}
    ~OwnWork() { says_ = before_; }
    OwnWork(const OwnWork&) = delete;
    OwnWork& operator=(const OwnWork&) = delete;

   private:
    Says before_;
  };

  // Of what must not fail: `allocate` until it answers other than null; once where this thread's may fail.
  template <typename Allocate>
  static void* Insist(Allocate&& allocate) noexcept {
    for (unsigned failed = 0;; ++failed) {
      if (void* const memory = allocate(); memory != nullptr || MayFail()) return memory;
      MakeRoom(failed);
    }
  }

 private:
  static bool MayFail() noexcept;
  static inline constinit thread_local Says says_ = Says::kNothing;
  static inline std::atomic<bool> short_{false}, serves_{false};
  static bool Fill() noexcept;
  static bool GivePiece() noexcept;  // false: none is left
  static bool MakeMargin() noexcept;
  static inline std::array<std::atomic<uintptr_t>, kPieces> kept_{};  // 0: spent
  static inline std::atomic<size_t> left_{0};
  static inline std::atomic<int> calm_looks_{0};  // since an allocation failed
};

}  // namespace wf::base
