#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/abi/bounds.h"
#include "runtime/base/poison.h"
#include "runtime/bus/memory.h"

namespace wf::bus {

// What one request may still take, shared by its arenas on all threads.
struct Budget {
  static constexpr int64_t kBytes = abi::kMostRequestBytes;
  static constexpr int64_t kSpareBytes = int64_t{1} << 20;  // more, to say what failed and where
  std::atomic<int64_t> left{kBytes};
  // The last refusal was for what other requests hold, not for what this one has had.
  std::atomic<bool> others_hold{false};

  // `held`: what the request has claimed already, its body. Alone in the process it would have no more. `kept`: what an arena of it has.
  void StartWith(const Memory& memory, int64_t held = 0, int64_t kept = 0) {
    left.store(std::min(kBytes, memory.request_bytes(held)) - kept, std::memory_order_relaxed);
  }
  void Refuse(bool for_others) { others_hold.store(for_others, std::memory_order_relaxed); }
};

// Memory that is freed all at once: bumps through chunks that double from first_bytes to 1 MiB; what is larger stands alone.
// Every block may be read up to the next multiple of 64 bytes after it.
// Thread: one thread at a time.   Owns: its chunks.   Borrows: memory, budget.
// Errors: Allocate answers null when the budget or the memory is spent.   Cost: O(1); no call into memory while the chunk has room.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { FreeAll(); }

  void Open(Memory& memory, Budget& budget, size_t first_bytes);

  // `align`: a power of two, at most 64.
  void* Allocate(uint64_t bytes, uint64_t align) noexcept {
    const uintptr_t at = (bumped_.at + align - 1) & ~static_cast<uintptr_t>(align - 1);
    if (bytes <= bumped_.end - at && at <= bumped_.end) [[likely]] {
      bumped_.at = at + bytes;
      if constexpr (base::kSeesPoison) base::Unpoison(reinterpret_cast<void*>(at), ((bumped_.at + 63) & ~UINT64_C(63)) - at);
      return reinterpret_cast<void*>(at);
    }
    return AllocateSlow(bytes, align);
  }
  // `bytes` bytes that begin with the `used` of `block`, for what is put together piece by piece: a block that came from here and grows
  // again is copied to where it has room for as many again, and from then on grows in place while it has; whoever reads the old block may
  // go on. kBehind bytes more may be read. The kGrowing blocks that grew last are known.
  static constexpr size_t kGrowing = 16;
  static constexpr uint64_t kBehind = 64;
  void* Grow(const void* block, uint64_t used, uint64_t bytes) noexcept;
  // For what says why the request failed: when Allocate refuses, it is in a small chunk that comes off what the budget keeps for this.
  void* AllocateToReport(uint64_t bytes, uint64_t align) noexcept;
  template <typename T>
  T* New() noexcept {
    void* const memory = Allocate(sizeof(T), alignof(T));
    return memory == nullptr ? nullptr : new (memory) T();
  }

  struct alignas(64) Chunk {  // blocks lie behind it
    Chunk* next;
    size_t bytes;
    bool is_retained;  // the next GiveBackSince leaves it as it is
  };
  struct Mark {
    uintptr_t at, end;  // what its chunk has free
    Chunk* last;
  };
  struct Stretch {
    uintptr_t begin, end;
    Chunk* chunk;  // null: of one that was there before
  };
  // What is allocated from now on can be given back before the rest, as often as one likes, and marks within one another.
  Mark Now() const { return {bumped_.at, bumped_.end, last_}; }
  size_t CountSince(const Mark& mark) const;
  void ListSince(const Mark& mark, Stretch* stretches) const;
  void GiveBackSince(const Mark& mark) noexcept;
  // Bytes that somebody else takes for the request, no memory of this; false as Allocate answers null. Unclaim is for what was claimed.
  bool Claim(uint64_t bytes) noexcept;
  void Unclaim(uint64_t bytes) noexcept;
  // Opens `other` for the same request.
  void OpenBeside(Arena& other, size_t first_bytes) const { other.Open(*memory_, *budget_, first_bytes); }

  // Takes over the chunks of `other`, which is empty afterwards; goes on bumping where more is free.
  void Splice(Arena& other) noexcept;
  // Gives back all chunks; with `keep` all but the first, so that the next request allocates nothing.
  void Reset(bool keep) noexcept;
  void FreeAll() noexcept { Reset(false); }

  size_t held_bytes() const { return held_; }
  size_t used_bytes() const { return held_ - (bumped_.end - bumped_.at); }  // what is left over behind the ends of chunks counts as used
  int64_t left_bytes() const { return budget_->left.load(std::memory_order_relaxed); }
  bool is_open() const { return memory_ != nullptr; }

 private:
  struct Space {
    uintptr_t at = 0, end = 0;
  };
  void* AllocateSlow(uint64_t bytes, uint64_t align) noexcept;
  void ForgetGrowing(uintptr_t begin, uintptr_t end) noexcept;
  bool TakeFromBudget(int64_t bytes, int64_t spare_bytes) noexcept;
  void GiveToBudget(int64_t bytes) noexcept { budget_->left.fetch_add(bytes, std::memory_order_relaxed); }
  bool RefuseForOthers(int64_t bytes) noexcept;
  Chunk* TakeChunk(size_t bytes, int64_t spare_bytes = 0) noexcept;

  Space bumped_;
  std::array<Space, kGrowing> growing_{};  // behind blocks that Grow made: what is free of their room; the last used first
  Chunk* first_ = nullptr;                 // the chunk that survives Reset(keep)
  Chunk* last_ = nullptr;
  Memory* memory_ = nullptr;
  Budget* budget_ = nullptr;
  size_t next_bytes_ = 0, held_ = 0;
};

}  // namespace wf::bus
