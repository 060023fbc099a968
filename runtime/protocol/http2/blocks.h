#pragma once

#include <cstddef>
#include <cstdint>

namespace wf::http2 {

// Memory for what a protocol library allocates, kept in lists by size.
// Thread: loop-confined.   Owns: blocks that were given back.   Errors: null when memory is out.
// Bounds: keeps kMaxKeptBytes; a block larger than kMaxBlockBytes is not kept.   Cost: no allocation in steady state.
class Blocks {
 public:
  struct Head;
  static constexpr size_t kMaxKeptBytes = size_t{4} << 20, kMaxBlockBytes = 32 * 1024;

  Blocks() = default;
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void* Take(size_t bytes) noexcept;
  void Give(void* block) noexcept;  // null: nothing
  void DropKept() noexcept;
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr int kSizes = 10;  // 64 bytes to 32 KiB
  Head* free_[kSizes] = {};
  size_t kept_bytes_ = 0;
};

// The blocks of one session, which can be given back all at once: after a failed allocation nghttp2 holds some that it has given back
// already, and would give them back again when the session is deleted.
// Thread: loop-confined.   Borrows: blocks.
class Held {
 public:
  explicit Held(Blocks& blocks) : blocks_(blocks) {}
  ~Held() { GiveAll(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  void* Take(size_t bytes) noexcept;
  void Give(void* block) noexcept;  // null: nothing
  void* Resize(void* block, size_t bytes) noexcept;
  void GiveAll() noexcept;

 private:
  Blocks& blocks_;
  Blocks::Head* first_ = nullptr;
};

}  // namespace wf::http2
