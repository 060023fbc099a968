#include "runtime/protocol/json/size.h"

#include <cstddef>

#include "runtime/base/load.h"

namespace wf::json {
namespace {

constexpr uint64_t kNumberBytes = 8;  // with its comma

uint64_t ElementBytes(const wf_type* types, const wf_type& list, const wf_list& elements, uint64_t enough) {
  const bool map = list.kind == WF_T_MAP;
  const wf_type& element = types[list.element];
  if (!map && element.kind == WF_T_SCALAR) return elements.len * kNumberBytes;
  const uint64_t step = map ? list.map_entry_size : element.size;
  const uint64_t value_at = map ? list.map_value_offset : 0;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < elements.len && bytes < enough; ++i) {
    const auto* at = static_cast<const std::byte*>(elements.ptr) + i * step;
    bytes += (map ? base::Load<wf_bytes>(at).len : 0) + TextBytes(types, list.element, at + value_at, enough);
  }
  return bytes;
}

}  // namespace

// Recursion is on the type.
uint64_t TextBytes(const wf_type* types, uint32_t index, const void* value, uint64_t enough) {
  const wf_type& type = types[index];
  switch (type.kind) {
    case WF_T_STRING:
      return base::Load<wf_bytes>(value).len;
    case WF_T_BYTES:
      return base::Load<wf_bytes>(value).len / 3 * 4;
    case WF_T_TENSOR: {
      const auto tensor = base::Load<wf_tensor>(value);
      uint64_t bytes = kNumberBytes;
      for (uint32_t axis = 0; axis < tensor.rank; ++axis) bytes *= static_cast<uint64_t>(tensor.dim[axis]);
      return bytes;
    }
    case WF_T_RECORD: {
      uint64_t bytes = 0;
      for (uint32_t i = 0; i < type.n_fields; ++i)
        bytes += TextBytes(types, type.fields[i].type, static_cast<const std::byte*>(value) + type.fields[i].offset, enough);
      return bytes;
    }
    case WF_T_LIST:
    case WF_T_MAP:
      return ElementBytes(types, type, base::Load<wf_list>(value), enough);
    case WF_T_OPTIONAL: {
      const bool has = static_cast<const std::byte*>(value)[type.has_offset] != std::byte{0};
      return has ? TextBytes(types, type.element, value, enough) : kNumberBytes;
    }
    default:
      return kNumberBytes;
  }
}

}  // namespace wf::json
