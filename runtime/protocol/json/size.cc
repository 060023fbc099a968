#include "runtime/protocol/json/size.h"

#include <cstddef>

#include "runtime/base/load.h"

namespace wf::json {
namespace {

constexpr uint64_t kNumberBytes = 8;  // with its comma
constexpr uint64_t kAroundBytes = 3;  // quotes or brackets, and a comma

// Rows without elements are text, too.
uint64_t TensorBytes(const wf_tensor& tensor, uint64_t enough) {
  uint64_t count = 1, bytes = kAroundBytes;
  for (uint32_t axis = 0; axis < tensor.rank && bytes < enough; ++axis) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(tensor.dim[axis]), &count) || count >= enough) return enough;
    bytes += count * (axis + 1 == tensor.rank ? kNumberBytes : kAroundBytes);
  }
  return bytes;
}

uint64_t ElementBytes(const wf_type* types, const wf_type& list, const wf_list& elements, uint64_t enough) {
  const bool map = list.kind == WF_T_MAP;
  const wf_type& element = types[list.element];
  if (!map && element.kind == WF_T_SCALAR) return elements.len * kNumberBytes;
  const uint64_t step = map ? list.map_entry_size : element.size;
  const uint64_t value_at = map ? list.map_value_offset : 0;
  uint64_t bytes = kAroundBytes;
  for (uint64_t i = 0; i < elements.len && bytes < enough; ++i) {
    const auto* at = static_cast<const std::byte*>(elements.ptr) + i * step;
    bytes += (map ? base::Load<wf_bytes>(at).len + kAroundBytes : 0) + TextBytes(types, list.element, at + value_at, enough);
  }
  return bytes;
}

}  // namespace

// Recursion is on the type.
uint64_t TextBytes(const wf_type* types, uint32_t index, const void* value, uint64_t enough) {
  const wf_type& type = types[index];
  switch (type.kind) {
    case WF_T_STRING:
      return base::Load<wf_bytes>(value).len + kAroundBytes;
    case WF_T_BYTES:
      return base::Load<wf_bytes>(value).len / 3 * 4 + kAroundBytes;
    case WF_T_TENSOR:
      return TensorBytes(base::Load<wf_tensor>(value), enough);
    case WF_T_RECORD: {
      uint64_t bytes = kAroundBytes;
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
