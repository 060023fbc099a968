#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/memory_limit.h"

namespace wf::bus {

// What requests may take: chunks of arenas, and what lives elsewhere and is claimed: bodies, answers that wait to be sent, what models need
// for shapes that requests decide. One of the five seams between production and simulation: a test makes the n-th Take fail.
// Thread: thread-safe.   Errors: Take answers null, Claim false, when the process may not have more.
class Memory : public base::MemoryLimit {
 public:
  // `bytes` is a multiple of 64; so is the address.
  virtual void* Take(size_t bytes) noexcept = 0;
  virtual void Give(void* chunk, size_t bytes) noexcept = 0;
  // Claim, and of the last that there is beside what Claim leaves to chunks: for a little, without which a connection would have to be
  // closed.
  virtual bool ClaimLast(int64_t bytes) noexcept { return Claim(bytes); }
  // Would Claim be true now?
  virtual bool HasRoom(int64_t /*bytes*/) const noexcept { return true; }
  // Of them that one request may have for its work, of which `held` bytes are claimed already.
  virtual int64_t request_bytes(int64_t held) const noexcept { return most_bytes() - held; }
  virtual void DropKept() noexcept {}  // what threads keep to be taken again goes back to the system
};

// Chunks from caches of the threads, without waiting in steady state. A chunk goes back to the cache of the thread that made it.
// Thread: thread-safe.   Owns: every chunk and cache.
// Errors: Take is null above limit_bytes, Claim false above most_bytes, both while base::Reserve is spent; Take also when the system has no
// memory.
// Bounds: limit_bytes of chunks in use and claims, of which claims leave an eighth to chunks (ClaimLast a sixteenth): clients that read or
// write slowly hold bodies and answers for as long as they like, and small requests of others are served all the same. A cache keeps at
// most kKeptBytes, and as much that other threads gave back, nothing while the reserve is spent.   Cost: Take and Give O(1), a lock that
// nobody else wants but while memory is short.
class ChunkMemory final : public Memory {
 public:
  static constexpr size_t kSmallest = 1024, kLargest = size_t{1} << 20;  // powers of two between are cached, the rest is mapped alone
  static constexpr size_t kKeptBytes = size_t{16} << 20;

  explicit ChunkMemory(int64_t limit_bytes = INT64_MAX, int64_t request_bytes = INT64_MAX);
  ~ChunkMemory() override;  // REQUIRES: every chunk given back, no thread calls any more
  ChunkMemory(const ChunkMemory&) = delete;
  ChunkMemory& operator=(const ChunkMemory&) = delete;

  void* Take(size_t bytes) noexcept override;
  void Give(void* chunk, size_t bytes) noexcept override;
  bool Claim(int64_t bytes) noexcept override;
  bool ClaimLast(int64_t bytes) noexcept override;
  bool HasRoom(int64_t bytes) const noexcept override;
  void DropKept() noexcept override;
  void Unclaim(int64_t bytes) noexcept override { in_use_.fetch_sub(bytes, std::memory_order_relaxed); }

  int64_t most_bytes() const noexcept override { return limit_bytes_ - limit_bytes_ / 8; }
  int64_t request_bytes(int64_t held) const noexcept override {
    return std::min({request_bytes_, most_bytes(), std::max<int64_t>(limit_bytes_ - held, 0)});
  }
  int64_t limit_bytes() const { return limit_bytes_; }
  int64_t in_use_bytes() const { return in_use_.load(std::memory_order_relaxed); }

 private:
  struct Cache;
  struct Known {  // of a thread: its cache of the object with this serial
    uint64_t serial;
    Cache* cache;
  };
  static std::vector<Known>& KnownHere() noexcept;
  Cache* CacheOfThisThread() noexcept;
  bool Add(int64_t bytes, int64_t most) noexcept;

  const int64_t limit_bytes_, request_bytes_;
  const uint64_t serial_;  // tells this object from an earlier one at the same address
  std::atomic<int64_t> in_use_{0};
  std::atomic<Cache*> caches_{nullptr};
};

}  // namespace wf::bus
