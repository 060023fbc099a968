#pragma once

#include <cstddef>
#include <cstdint>

namespace wf::http2 {

// Memory for what a protocol library allocates, kept in lists by size.
// Thread: loop-confined.   Owns: blocks that were given back.   Errors: null when memory is out.
// Bounds: keeps kMaxKeptBytes; a block larger than kMaxBlockBytes is not kept.   Cost: no allocation in steady state.
class Blocks {
 public:
  static constexpr size_t kMaxKeptBytes = size_t{4} << 20, kMaxBlockBytes = 32 * 1024;

  Blocks() = default;
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void* Take(size_t bytes) noexcept;
  void Give(void* block) noexcept;  // null: nothing
  void* Resize(void* block, size_t bytes) noexcept;
  size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Head;
  static constexpr int kSizes = 10;  // 64 bytes to 32 KiB
  Head* free_[kSizes] = {};
  size_t kept_bytes_ = 0;
};

}  // namespace wf::http2
