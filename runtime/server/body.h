#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/abi/values.h"

namespace wf::server {

// The body of one request, with 64 zero bytes behind it as decoders ask. Its begin, or the byte that AlignAt names, is aligned to 64:
// tensors that stand there are used in place. Thread: loop-confined while it grows.   Owns: its bytes.   Errors: Reserve and Append answer
// false when memory is out.
class Body {
 public:
  static constexpr size_t kPadBytes = 64;
  static constexpr size_t kKeptBytes = 16 * 1024;  // a larger buffer is freed with its request
  // Of an announced body so much is taken at once, then so many times what has come of it, up to the size that grows without a copy.
  static constexpr size_t kReserved = 64 * 1024, kTimesArrived = 16, kMostReserved = size_t{1} << 20;

  Body() = default;
  ~Body();
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  void AlignAt(size_t offset) noexcept { align_at_ = offset; }  // before Reserve
  bool Reserve(size_t bytes) noexcept;
  // For one of so many bytes, of which next to nothing may come.
  bool ReserveAnnounced(size_t bytes) noexcept {
    announced_ = bytes;
    return Reserve(std::min(bytes, kReserved));
  }
  bool Append(std::span<const uint8_t> bytes) noexcept;
  void DropFirst(size_t count) noexcept;  // moves what is behind
  void Clear() noexcept;
  void Free() noexcept;  // Clear, and keeps no buffer
  void Swap(Body& other) noexcept;
  std::span<const uint8_t> bytes() const { return {data(), size_}; }
  size_t size() const { return size_; }
  // Zeroes the padding. Valid until the next change.
  wf_bytes Seal() noexcept;

 private:
  uint8_t* data() const { return memory_ + lead_; }
  size_t GrownFor(size_t bytes) const noexcept;

  uint8_t* memory_ = nullptr;
  size_t lead_ = 0, align_at_ = 0;  // lead_ < kPadBytes: before byte 0
  size_t size_ = 0, capacity_ = 0;  // capacity_ without the padding
  size_t announced_ = 0;            // 0: nobody has said
};

}  // namespace wf::server
