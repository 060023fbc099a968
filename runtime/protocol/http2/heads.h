#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/sink.h"

namespace wf::http2 {

// Heads and trailers of answers as frames, packed as RFC 7541 has it: what answers say again and again stands in the table that the peer
// keeps, and is a byte from the second time on; the rest are plain texts.
// Thread: loop-confined.   Owns: what it knows of that table; frames, until MoveTo.
// Errors: End and MoveTo answer false when memory is out.
// Bounds: kKept fields; what they take in the table is at most what the peer allows.   Cost: no allocation in steady state.
class HeadWriter {
 public:
  void Open() noexcept;                         // on a new connection
  void SetTableBytes(uint32_t bytes) noexcept;  // what the peer's SETTINGS_HEADER_TABLE_SIZE says
  void Shrink(uint32_t bytes) noexcept;         // the same, where it makes the table smaller
  void Begin(int status) noexcept;              // a head; 0: trailers
  void Put(std::string_view name, std::string_view value) noexcept;
  // The frames of what came since Begin are whole. They reach the peer in the order in which they are made.
  bool End(uint32_t stream, bool ends_stream) noexcept;
  bool MoveTo(wf_sink* out) noexcept;
  bool empty() const { return size_ == 0 && ready_.empty(); }

 private:
  static constexpr uint32_t kDefaultTableBytes = 4096;
  static constexpr size_t kKept = 8, kMostKeptBytes = 72;  // of name and value

  struct Kept {
    uint64_t number = 0;  // counted from the first that was inserted, 1; 0: none
    uint32_t name_bytes = 0, value_bytes = 0;
    char text[kMostKeptBytes];
  };
  uint64_t Find(std::string_view name, std::string_view value) const noexcept;
  void Keep(std::string_view name, std::string_view value) noexcept;
  void DropTo(uint32_t bytes) noexcept;
  void PutBytes(const void* bytes, size_t count) noexcept;
  void PutInteger(uint8_t pattern, int bits, uint64_t value) noexcept;
  void PutText(std::string_view text) noexcept;
  bool EndLarge(uint32_t stream, bool ends_stream) noexcept;

  uint8_t frames_[1024];         // those that are short, behind what is ready
  size_t size_ = 0, begin_ = 0;  // of them; where the open one begins
  wf_sink ready_, block_;        // before them; the fields of one that is too long for them
  bool is_large_ = false;        // the open one is
  Kept kept_[kKept];             // by number
  uint64_t inserted_ = 0;        // fields of the table so far
  uint64_t first_ = 1;           // number of the oldest one that is known to be there
  uint32_t kept_bytes_ = 0;      // of those that are, as the table counts them
  uint32_t table_bytes_ = kDefaultTableBytes, least_bytes_ = kDefaultTableBytes;
  bool resized_ = false;  // the peer is to be told with the next head
};

}  // namespace wf::http2
