#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/protocol/http/head.h"

namespace wf::http2 {

// A head that a peer sends again byte for byte, as the calls of a client do that differ in their bodies alone. Bytes that do not change the
// table of HPACK mean the same until others change it: instead of them nghttp2 reads a short head that is as good to it, and the fields of
// the first are copied. What is kept was read, and held to be a request, once.
// Thread: loop-confined.   Owns: one head, which came twice.   Bounds: kMostBytes of its bytes.   Cost: no allocation in steady state.
class Repeats {
 public:
  static constexpr size_t kMostBytes = 256, kMostStandIn = 32;

  void Open() noexcept;                 // on a new connection
  void Pass(uint32_t stream) noexcept;  // fields that are not all here are about to be read: they may change the table
  // The next fields of the connection, before they are read; only those that begin a stream are a head. True: it is known.
  bool Take(std::span<const uint8_t> block, uint32_t stream) noexcept;
  bool wants(uint32_t stream) const { return wanted_ == stream; }  // what its head comes to
  // With its fields; `scheme` is its pseudo-field.
  void Learn(const http::Head& head, std::string_view scheme) noexcept;

  // ---- of the known one ----
  const http::Head& head() const { return head_; }
  int64_t length() const { return length_; }  // that its fields tell of a body; -1: none
  std::span<const uint8_t> stand_in() const { return {stand_in_, stand_in_bytes_}; }

 private:
  struct Block {
    size_t size = 0;
    uint8_t bytes[kMostBytes];
    bool Is(std::span<const uint8_t> block) const;
    void Set(std::span<const uint8_t> block);
  };
  void Forget() noexcept;

  Block seen_, kept_;  // the last one; the one that came twice
  bool known_ = false;
  uint32_t wanted_ = 0;  // the stream whose head is kept_
  uint32_t last_ = 0;    // that was begun
  http::Head head_;
  int64_t length_ = -1;
  uint8_t stand_in_[kMostStandIn];
  size_t stand_in_bytes_ = 0;
};

}  // namespace wf::http2
