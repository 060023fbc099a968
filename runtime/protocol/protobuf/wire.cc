#include "runtime/protocol/protobuf/wire.h"

namespace wf::protobuf {
namespace {

constexpr uint32_t kGroupBegin = 3, kGroupEnd = 4, kMostNumber = (1U << 29) - 1;

template <typename T>
bool TakeFixed(const uint8_t** at, const uint8_t* end, uint64_t* value) {
  T bits;
  if (static_cast<size_t>(end - *at) < sizeof bits) return false;
  std::memcpy(&bits, *at, sizeof bits);
  *at += sizeof bits;
  *value = bits;
  return true;
}

}  // namespace

bool TakeLongVarint(const uint8_t** at, const uint8_t* end, uint64_t* value) {
  uint64_t bits = 0;
  const uint8_t* next = *at;
  for (int shift = 0; shift < 64; shift += 7) {
    if (next == end) return false;
    const uint8_t byte = *next++;
    if (shift == 63 && byte > 1) return false;
    bits |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *at = next;
      *value = bits;
      return true;
    }
  }
  return false;
}

bool Reader::TakeTag(uint32_t* number, uint32_t* wire) {
  uint64_t tag = 0;
  if (!TakeVarint(&at_, end_, &tag) || tag >> 3 == 0 || tag >> 3 > kMostNumber) return false;
  *number = static_cast<uint32_t>(tag >> 3);
  *wire = static_cast<uint32_t>(tag & 7);
  return true;
}

bool Reader::TakeValue(uint32_t wire, Field* field) {
  field->wire = static_cast<Wire>(wire);
  switch (field->wire) {
    case Wire::kVarint:
      return TakeVarint(&at_, end_, &field->value);
    case Wire::kFixed64:
      return TakeFixed<uint64_t>(&at_, end_, &field->value);
    case Wire::kFixed32:
      return TakeFixed<uint32_t>(&at_, end_, &field->value);
    case Wire::kBytes: {
      uint64_t size = 0;
      if (!TakeVarint(&at_, end_, &size) || size > static_cast<uint64_t>(end_ - at_)) return false;
      field->bytes = {at_, size};
      at_ += size;
      return true;
    }
  }
  return false;
}

bool Reader::SkipGroup(uint32_t number) {
  uint32_t open[kMaxGroups] = {number};
  int depth = 1;
  while (depth > 0) {
    uint32_t wire = 0;
    Field ignored;
    if (!Count() || !TakeTag(&number, &wire)) return false;
    if (wire == kGroupBegin) {
      if (depth == kMaxGroups) return false;
      open[depth++] = number;
    } else if (wire == kGroupEnd) {
      if (open[--depth] != number) return false;
    } else if (!TakeValue(wire, &ignored)) {
      return false;
    }
  }
  return true;
}

bool Reader::NextOfAny(Field* field) {
  while (!broken_ && at_ != end_) {
    uint32_t wire = 0;
    *field = {};
    if (!Count() || !TakeTag(&field->number, &wire)) return Break();
    if (wire != kGroupBegin) return TakeValue(wire, field) || Break();
    if (!SkipGroup(field->number)) return Break();
  }
  return false;
}

void PutLongVarint(wf_sink* out, uint64_t value) {
  uint8_t bytes[10];
  size_t count = 0;
  while (value >= 0x80) {
    bytes[count++] = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  bytes[count++] = static_cast<uint8_t>(value);
  out->Put(bytes, count);
}

}  // namespace wf::protobuf
