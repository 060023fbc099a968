#include "runtime/abi/blocks.h"

#include <algorithm>

#include "runtime/base/dtype.h"

namespace wf::abi {
namespace {

bool HasPointers(const wf_type* types, uint32_t type) {
  const wf_type& row = types[type];
  if (row.kind == WF_T_RECORD)
    return std::any_of(row.fields, row.fields + row.n_fields, [&](const wf_field& field) { return HasPointers(types, field.type); });
  if (row.kind == WF_T_OPTIONAL) return HasPointers(types, row.element);
  return row.kind != WF_T_SCALAR;
}

// From the first element to the last, gaps behind rows included.
uint64_t SpanOf(const wf_tensor& tensor) {
  int64_t last = 0;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.dim[axis] <= 0) return 0;
    last += (tensor.dim[axis] - 1) * tensor.stride[axis];
  }
  return static_cast<uint64_t>((last + 1) * base::DTypeSize(tensor.dtype));
}

bool MoveData(void** data, uint64_t bytes, uint64_t align, BlockMover& mover) {
  if (*data == nullptr) return true;
  void* const to = mover.Move(*data, bytes, align, false).to;
  if (to == nullptr) return false;
  *data = to;
  return true;
}

bool MoveText(wf_bytes& text, BlockMover& mover) {
  void* data = const_cast<uint8_t*>(text.ptr);
  if (!MoveData(&data, text.len, 1, mover)) return false;
  text.ptr = static_cast<const uint8_t*>(data);
  return true;
}

bool MoveItems(const wf_type* types, const wf_type& row, wf_list& list, BlockMover& mover) {
  const bool is_map = row.kind == WF_T_MAP;
  const wf_type& element = types[row.element];
  const uint64_t step = is_map ? row.map_entry_size : element.size;
  if (list.ptr == nullptr) return true;
  const uint64_t align = std::max<uint64_t>(is_map ? alignof(wf_bytes) : 1, element.align);
  const BlockMover::Moved moved = mover.Move(list.ptr, step * list.len, align, is_map || HasPointers(types, row.element));
  if (moved.to == nullptr) return false;
  list.ptr = moved.to;
  auto* at = static_cast<uint8_t*>(moved.to);
  for (uint64_t i = 0; moved.look_inside && i < list.len; ++i, at += step) {
    if (is_map) {
      if (!MoveText(*reinterpret_cast<wf_bytes*>(at), mover)) return false;
    }
    if (!MoveBlocks(types, row.element, at + (is_map ? row.map_value_offset : 0), mover)) return false;
  }
  return true;
}

}  // namespace

bool MoveBlocks(const wf_type* types, uint32_t type, void* value, BlockMover& mover) {
  const wf_type& row = types[type];
  auto* const at = static_cast<uint8_t*>(value);
  switch (row.kind) {
    case WF_T_STRING:
    case WF_T_BYTES:
      return MoveText(*static_cast<wf_bytes*>(value), mover);
    case WF_T_TENSOR: {
      auto& tensor = *static_cast<wf_tensor*>(value);
      return MoveData(&tensor.data, SpanOf(tensor), WF_ALIGN, mover);
    }
    case WF_T_RECORD:
      return std::all_of(row.fields, row.fields + row.n_fields,
                         [&](const wf_field& field) { return MoveBlocks(types, field.type, at + field.offset, mover); });
    case WF_T_LIST:
    case WF_T_MAP:
      return MoveItems(types, row, *static_cast<wf_list*>(value), mover);
    case WF_T_OPTIONAL:
      return at[row.has_offset] == 0 || MoveBlocks(types, row.element, value, mover);
    default:
      return true;
  }
}

}  // namespace wf::abi
