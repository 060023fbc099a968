// Elements as InferTensorContents has them: repeated fields of a message, packed or not.
#include <cstring>

#include "runtime/base/dtype.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/oip/request.h"
#include "runtime/protocol/oip/typed.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::oip {
namespace {

using protobuf::Wire;

constexpr std::string_view kNoMessage = "that are no protobuf message", kManyFields = "of more than 65536 fields beside their elements";
static_assert(kMaxFields == 65'536);

// Stores one number; false: it is out of the range of its datatype.
template <typename T, typename Carried>
bool StoreAs(Carried carried, std::byte* out) {
  const auto stored = static_cast<T>(carried);
  std::memcpy(out, &stored, sizeof stored);
  return static_cast<Carried>(stored) == carried;
}

bool Store(uint8_t dtype, uint64_t bits, std::byte* out) {
  switch (dtype) {
    case WF_BOOL:
      return StoreAs<uint8_t>(uint64_t{bits != 0}, out);
    case WF_I8:
      return StoreAs<int8_t>(static_cast<int32_t>(bits), out);
    case WF_I16:
      return StoreAs<int16_t>(static_cast<int32_t>(bits), out);
    case WF_U8:
      return StoreAs<uint8_t>(static_cast<uint32_t>(bits), out);
    case WF_U16:
      return StoreAs<uint16_t>(static_cast<uint32_t>(bits), out);
    case WF_I32:
    case WF_U32:
    case WF_F32:
      return StoreAs<uint32_t>(uint64_t{static_cast<uint32_t>(bits)}, out);
    default:
      return StoreAs<uint64_t>(bits, out);
  }
}

Wire WireOf(uint8_t dtype) {
  if (dtype == WF_F32) return Wire::kFixed32;
  return dtype == WF_F64 ? Wire::kFixed64 : Wire::kVarint;
}

// Elements, or the begin of some, in the field of another datatype.
bool IsElsewhere(const protobuf::Field& field, uint32_t wanted) {
  constexpr uint32_t kLast = 8;
  return field.number != wanted && field.number <= kLast && (field.number == kLast || field.wire != Wire::kBytes || field.bytes.len != 0);
}

// Writes elements of one input as they come.
struct TypedReader {
  const uint8_t dtype;
  std::byte* out;
  const uint64_t count;
  uint64_t found = 0;
  std::string_view broken = {};  // what the contents are; empty: they are not
  bool in_range = true, elsewhere = false;

  bool Take(uint64_t bits) {
    if (found == count) {
      ++found;
      return false;
    }
    in_range = Store(dtype, bits, out + found * static_cast<uint64_t>(base::DTypeSize(dtype)));
    if (in_range) ++found;
    return in_range;
  }

  bool TakePacked(wf_bytes packed) {
    const uint8_t* at = packed.ptr;
    const uint8_t* const end = at + packed.len;
    const auto width = static_cast<size_t>(dtype == WF_F32 ? 4 : dtype == WF_F64 ? 8 : 0);
    while (at != end) {
      uint64_t bits = 0;
      const bool whole = width == 0 ? protobuf::TakeVarint(&at, end, &bits) : static_cast<size_t>(end - at) >= width;
      if (!whole) {
        broken = kNoMessage;
        return false;
      }
      if (width != 0) std::memcpy(&bits, at, width);
      at += width;
      if (!Take(bits)) return false;
    }
    return true;
  }

  void Read(wf_bytes contents) {
    protobuf::FieldLimit limit = {kMaxFields};
    protobuf::Reader reader(contents, &limit);
    protobuf::Field field;
    const TypedField wanted = TypedFieldOf(dtype);
    while (reader.Next(&field)) {
      elsewhere = elsewhere || IsElsewhere(field, wanted.number);
      if (field.number != wanted.number) continue;
      const bool is_element = field.wire == WireOf(dtype);
      if (is_element) ++limit.left;  // the shape says how many there are
      if (is_element ? !Take(field.value) : field.wire == Wire::kBytes && !TakePacked(field.bytes)) return;
    }
    if (reader.broken()) broken = limit.passed ? kManyFields : kNoMessage;
  }
};

}  // namespace

TypedField TypedFieldOf(uint8_t dtype) {
  switch (dtype) {
    case WF_BOOL:
      return {1, "bool_contents"};
    case WF_I8:
    case WF_I16:
    case WF_I32:
      return {2, "int_contents"};
    case WF_I64:
      return {3, "int64_contents"};
    case WF_U8:
    case WF_U16:
    case WF_U32:
      return {4, "uint_contents"};
    case WF_U64:
      return {5, "uint64_contents"};
    case WF_F32:
      return {6, "fp32_contents"};
    case WF_F64:
      return {7, "fp64_contents"};
    default:
      return {8, "bytes_contents"};
  }
}

wf_code InferRequest::RefuseTyped(bus::Bus& bus, uint32_t port, uint64_t count, uint64_t found, std::string_view broken) {
  base::TextBuilder message;
  message << "input `" << json::View(workflow_->in[port].name) << "`";
  if (!broken.empty())
    message << " has contents " << broken;
  else if (found == count)
    message << " has contents beside `" << TypedFieldOf(ShapeOf(*plan_, workflow_->in[port]).dtype).name << "`: the data is given twice";
  else if (found > count)
    message << " has more than the " << base::Counted(count, "element") << " of its shape in its contents";
  else
    message << " has " << base::Counted(found, "element") << " in `" << TypedFieldOf(ShapeOf(*plan_, workflow_->in[port]).dtype).name
            << "`, but its shape says " << count;
  return json::Record(bus.ctx(), code::kInputParams, message);
}

wf_code InferRequest::ReadTyped(bus::Bus& bus, uint32_t port, uint8_t dtype, uint64_t count, std::byte* out) {
  TypedReader reader{dtype, out, count};
  reader.Read(inputs_[port].data);
  if (!reader.in_range) return RefuseElement(bus, port, reader.found, "is out of range for its datatype");
  if (reader.broken.empty() && !reader.elsewhere && reader.found == count) return 0;
  return RefuseTyped(bus, port, count, reader.found, reader.broken);
}

wf_code InferRequest::ReadTypedBytes(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements) {
  protobuf::FieldLimit limit = {kMaxFields};
  protobuf::Reader reader(inputs_[port].data, &limit);
  protobuf::Field field;
  uint64_t found = 0;
  bool elsewhere = false;
  while (found <= count && reader.Next(&field)) {
    elsewhere = elsewhere || IsElsewhere(field, TypedFieldOf(0).number);
    if (!field.Is(TypedFieldOf(0).number, Wire::kBytes)) continue;
    ++limit.left;
    if (found++ < count) elements[found - 1] = field.bytes;
  }
  if (!reader.broken() && !elsewhere && found == count) return 0;
  return RefuseTyped(bus, port, count, found, !reader.broken() ? std::string_view() : limit.passed ? kManyFields : kNoMessage);
}

}  // namespace wf::oip
