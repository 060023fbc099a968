#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/abi/view.h"
#include "runtime/base/sink.h"

namespace wf::protobuf {

inline constexpr uint8_t kLong = 0x80;  // in a byte of a varint: it goes on

enum class Wire : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct Field {
  uint32_t number = 0;
  Wire wire = Wire::kVarint;
  uint64_t value = 0;   // kVarint, kFixed64, kFixed32
  wf_bytes bytes = {};  // kBytes: a view of the message

  bool Is(uint32_t wanted, Wire as) const { return number == wanted && wire == as; }
  std::string_view text() const { return abi::View(bytes); }
};

bool TakeLongVarint(const uint8_t** at, const uint8_t* end, uint64_t* value);
// Reads the varint at *at; false: cut off, or more than 64 bits.
inline bool TakeVarint(const uint8_t** at, const uint8_t* end, uint64_t* value) {
  if (*at == end || **at >= kLong) [[unlikely]]
    return TakeLongVarint(at, end, value);
  *value = *(*at)++;
  return true;
}

// How many fields are read of a message and of all that it holds, for each of which there is a reader.
struct FieldLimit {
  uint64_t left = 0;
  bool passed = false;  // there were more
};

// Walks the fields of one message. Groups, which nothing here has, are passed over as unknown fields.
// Thread: one at a time.   Borrows: the message, the limit (null: there is none).   Bounds: the limit's, with the fields in groups.
// Cost: no allocation, no recursion.
class Reader {
 public:
  explicit Reader(wf_bytes message, FieldLimit* limit = nullptr) : at_(message.ptr), end_(message.ptr + message.len), limit_(limit) {}
  // False: there are no more, or what stands there is no field, or one above the limit (both: `broken`).
  bool Next(Field* field) {
    // What nearly all fields are: bytes, of a number below 16, fewer than 128 of them.
    if (end_ - at_ >= 2 && (at_[0] & 7) == static_cast<uint8_t>(Wire::kBytes) && at_[0] > 7 && at_[0] < kLong && at_[1] < kLong &&
        at_[1] <= end_ - at_ - 2 && !broken_) {
      if (!Count()) return Break();
      *field = {static_cast<uint32_t>(at_[0] >> 3), Wire::kBytes, 0, {at_ + 2, at_[1]}};
      at_ += 2 + at_[1];
      return true;
    }
    return NextOfAny(field);
  }
  bool broken() const { return broken_; }

 private:
  static constexpr int kMaxGroups = 32;  // within one another
  bool Break() {
    broken_ = true;
    return false;
  }
  bool Count() {
    if (limit_ == nullptr) return true;
    if (limit_->left == 0) {
      limit_->passed = true;
      return false;
    }
    --limit_->left;
    return true;
  }
  bool NextOfAny(Field* field);
  bool TakeTag(uint32_t* number, uint32_t* wire);
  bool TakeValue(uint32_t wire, Field* field);
  bool SkipGroup(uint32_t number);

  const uint8_t* at_;
  const uint8_t* end_;
  FieldLimit* limit_;
  bool broken_ = false;
};

inline size_t VarintBytes(uint64_t value) { return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7; }
void PutLongVarint(wf_sink* out, uint64_t value);
inline void PutVarint(wf_sink* out, uint64_t value) {
  if (value >= kLong) [[unlikely]]
    return PutLongVarint(out, value);
  const auto byte = static_cast<uint8_t>(value);
  out->Put(&byte, 1);
}
inline void PutTag(wf_sink* out, uint32_t number, Wire wire) { PutVarint(out, uint64_t{number} << 3 | static_cast<uint64_t>(wire)); }
// The head of a field of `bytes` bytes, which follow.
inline void PutHead(wf_sink* out, uint32_t number, uint64_t bytes) {
  PutTag(out, number, Wire::kBytes);
  PutVarint(out, bytes);
}
// All of such a field, as PutHead, PutText and PutMessage write it.
inline size_t FieldBytes(uint32_t number, uint64_t bytes) { return VarintBytes(uint64_t{number} << 3) + VarintBytes(bytes) + bytes; }
inline void PutText(wf_sink* out, uint32_t number, std::string_view text) {
  PutHead(out, number, text.size());
  out->Put(text.data(), text.size());
}
inline void PutInteger(wf_sink* out, uint32_t number, uint64_t value) {
  PutTag(out, number, Wire::kVarint);
  PutVarint(out, value);
}
inline void PutFixed64(wf_sink* out, uint32_t number, uint64_t value) {
  PutTag(out, number, Wire::kFixed64);
  out->Put(&value, sizeof value);
}
inline void PutFixed32(wf_sink* out, uint32_t number, uint32_t value) {
  PutTag(out, number, Wire::kFixed32);
  out->Put(&value, sizeof value);
}
// Moves `message` into a field.
inline void PutMessage(wf_sink* out, uint32_t number, wf_sink* message) {
  PutHead(out, number, message->size());
  out->Append(*message);
}

}  // namespace wf::protobuf
