#include <algorithm>
#include <cstring>

#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

// Room for a list whose length shows only at its end.
struct Growing {
  wf_ctx* ctx;
  uint64_t element_bytes, align;
  uint8_t* data = nullptr;
  uint64_t count = 0, capacity = 0;

  // The next element's place, zeroed, or null when memory is spent.
  uint8_t* Next() {
    if (count == capacity) {
      const uint64_t more = std::max<uint64_t>(8, capacity * 2);
      auto* bytes = static_cast<uint8_t*>(wf_alloc(ctx, more * element_bytes, align));
      if (bytes == nullptr) return nullptr;
      if (count != 0) std::memcpy(bytes, data, count * element_bytes);
      data = bytes;
      capacity = more;
    }
    uint8_t* place = data + count++ * element_bytes;
    std::memset(place, 0, element_bytes);
    return place;
  }
};

wf_code ReadList(wf_json* in, const wf_type* types, const wf_type& type, void* out) {
  const wf_type& element = types[type.element];
  Growing list{.ctx = in->ctx, .element_bytes = element.size, .align = std::max<uint64_t>(element.align, 1)};
  if (EnterArray(in) != 0) return WF_FAILED;
  int32_t more = 0;
  while ((more = NextElement(in, list.count)) == 1) {
    uint8_t* place = list.Next();
    if (place == nullptr || wf_json_value(in, types, type.element, place) != 0) return WF_FAILED;
  }
  if (more < 0) return WF_FAILED;
  const wf_list value = {list.data, list.count};
  std::memcpy(out, &value, sizeof value);
  return 0;
}

wf_bytes EntryKey(const uint8_t* entry) {
  wf_bytes key;
  std::memcpy(&key, entry, sizeof key);
  return key;
}

// Sorts entries by key through their order, so that entries of any size move once.
wf_code SortEntries(wf_json* in, const Growing& map, wf_list* value) {
  auto* order = static_cast<uint64_t*>(wf_alloc(in->ctx, map.count * sizeof(uint64_t), alignof(uint64_t)));
  auto* sorted = static_cast<uint8_t*>(wf_alloc(in->ctx, map.count * map.element_bytes, map.align));
  if (order == nullptr || sorted == nullptr) return WF_FAILED;
  const auto key = [&map](uint64_t i) { return View(EntryKey(map.data + i * map.element_bytes)); };
  for (uint64_t i = 0; i < map.count; ++i) order[i] = i;
  std::sort(order, order + map.count, [&key](uint64_t a, uint64_t b) { return key(a) < key(b); });
  for (uint64_t i = 0; i < map.count; ++i) {
    if (i != 0 && key(order[i]) == key(order[i - 1])) {
      const std::string_view a = key(order[i]), b = key(order[i - 1]);
      ++in->depth;  // the end of the map has been read, and its name is part of the path
      return wf_json_duplicate(in, Bytes(std::max(a.data(), b.data()) == a.data() ? a : b));  // the later one
    }
    std::memcpy(sorted + i * map.element_bytes, map.data + order[i] * map.element_bytes, map.element_bytes);
  }
  *value = {sorted, map.count};
  return 0;
}

wf_code ReadMap(wf_json* in, const wf_type* types, const wf_type& type, void* out) {
  Growing map{.ctx = in->ctx, .element_bytes = type.map_entry_size, .align = 16};
  if (wf_json_object(in) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(in, &name)) == 1) {
    uint8_t* entry = map.Next();
    if (entry == nullptr) return WF_FAILED;
    std::memcpy(entry, &name, sizeof name);
    if (wf_json_value(in, types, type.element, entry + type.map_value_offset) != 0) return WF_FAILED;
  }
  if (more < 0) return WF_FAILED;
  wf_list value = {nullptr, 0};
  if (map.count != 0 && SortEntries(in, map, &value) != 0) return WF_FAILED;
  std::memcpy(out, &value, sizeof value);
  return 0;
}

// A record's members as ports, for the message of an unknown one.
wf_code UnknownField(wf_json* in, wf_bytes name, const wf_type& type) {
  constexpr uint32_t kShown = 32;
  wf_port ports[kShown] = {};
  const uint32_t n = std::min<uint32_t>(type.n_fields, kShown);
  for (uint32_t i = 0; i < n; ++i) ports[i].name = type.fields[i].name;
  return wf_json_unknown(in, name, ports, n);
}

int32_t FindField(const wf_type& type, wf_bytes name) {
  for (int32_t i = 0; i < type.n_fields; ++i) {
    if (View(type.fields[i].name) == View(name)) return i;
  }
  return -1;
}

wf_code ReadRecord(wf_json* in, const wf_type* types, const wf_type& type, void* out) {
  const uint64_t words = type.n_fields / 64 + 1;
  uint64_t few[4] = {};
  uint64_t* seen = few;
  if (words > 4) {
    seen = static_cast<uint64_t*>(wf_alloc(in->ctx, words * 8, 8));
    if (seen == nullptr) return WF_FAILED;
    std::memset(seen, 0, words * 8);
  }
  if (wf_json_object(in) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(in, &name)) == 1) {
    const int32_t field = FindField(type, name);
    if (field < 0) return UnknownField(in, name, type);
    if ((seen[field / 64] >> (field % 64) & 1) != 0) return wf_json_duplicate(in, name);
    seen[field / 64] |= UINT64_C(1) << (field % 64);
    if (wf_json_value(in, types, type.fields[field].type, static_cast<uint8_t*>(out) + type.fields[field].offset) != 0) return WF_FAILED;
  }
  if (more < 0) return WF_FAILED;
  for (uint32_t i = 0; i < type.n_fields; ++i) {
    if ((seen[i / 64] >> (i % 64) & 1) != 0) continue;
    const wf_type& field = types[type.fields[i].type];
    if (field.kind != WF_T_OPTIONAL) return wf_json_missing(in, type.fields[i].name);
    std::memset(static_cast<uint8_t*>(out) + type.fields[i].offset, 0, field.size);
  }
  return 0;
}

wf_code ReadOptional(wf_json* in, const wf_type* types, const wf_type& type, void* out) {
  auto* bytes = static_cast<uint8_t*>(out);
  if (TakeNull(in)) {
    std::memset(bytes, 0, type.size);
    return 0;
  }
  if (wf_json_value(in, types, type.element, bytes) != 0) return WF_FAILED;
  bytes[type.has_offset] = 1;
  return 0;
}

template <typename T, wf_code (*Read)(wf_json*, T*)>
wf_code ReadInto(wf_json* in, void* out) {
  T value = {};
  if (Read(in, &value) != 0) return WF_FAILED;
  std::memcpy(out, &value, sizeof value);
  return 0;
}

}  // namespace
}  // namespace wf::json

// Recursion is on the type, which sema keeps free of cycles; wf_json_object and arrays bound it by kMaxDepth again.
extern "C" wf_code wf_json_value(wf_json* in, const wf_type* types, uint32_t index, void* out) noexcept {
  using namespace wf::json;
  const wf_type& type = types[index];
  switch (type.kind) {
    case WF_T_SCALAR:
      return wf_json_scalar(in, type.dtype, out);
    case WF_T_STRING:
      return ReadInto<wf_bytes, wf_json_string>(in, out);
    case WF_T_BYTES:
      return ReadInto<wf_bytes, wf_json_bytes>(in, out);
    case WF_T_TENSOR:
      return wf_json_tensor(in, &type, static_cast<wf_tensor*>(out));
    case WF_T_RECORD:
      return ReadRecord(in, types, type, out);
    case WF_T_LIST:
      return ReadList(in, types, type, out);
    case WF_T_MAP:
      return ReadMap(in, types, type, out);
    case WF_T_OPTIONAL:
      return ReadOptional(in, types, type, out);
    default:
      return Refuse(in, "a type that JSON cannot carry");
  }
}
