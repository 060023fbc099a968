#include "compiler/ir/memory.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::ir {
namespace {

std::string TakeText(const wf_bytes& bytes) { return {reinterpret_cast<const char*>(bytes.ptr), bytes.len}; }

Value TakeTensor(const wf_tensor& tensor) {
  const std::vector<int64_t> dims(tensor.dim, tensor.dim + tensor.rank);
  const size_t size = SizeOf(static_cast<DType>(tensor.dtype));
  std::string elements;
  std::vector<int64_t> at(dims.size(), 0);
  for (;;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] == 0) return Value::Tensor(dims, "");
      offset += at[axis] * tensor.stride[axis];
    }
    elements.append(static_cast<const char*>(tensor.data) + static_cast<size_t>(offset) * size, size);
    size_t axis = dims.size();
    while (axis-- > 0) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return Value::Tensor(dims, elements);
  }
}

Value TakeMap(const TypeTable& types, const Type& type, const wf_list& list) {
  const EntryLayout entry = MapEntry(types, type.element);
  Value map;
  std::vector<std::string> keys;
  std::vector<Value> items;
  for (uint64_t i = 0; i < list.len; ++i) {
    const char* const at = static_cast<const char*>(list.ptr) + i * entry.size;
    keys.push_back(TakeText(*reinterpret_cast<const wf_bytes*>(at)));
    items.push_back(Take(types, type.element, at + entry.value_offset));
  }
  map.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
  map.items = std::make_shared<const std::vector<Value>>(std::move(items));
  return map;
}

}  // namespace

Value Take(const TypeTable& types, TypeId id, const void* address) {
  const Type& type = types[id];
  const char* at = static_cast<const char*>(address);
  switch (type.kind) {
    case TypeKind::kScalar: {
      uint64_t bits = 0;
      std::memcpy(&bits, at, SizeOf(type.dtype));
      return Value::Scalar(bits);
    }
    case TypeKind::kString:
    case TypeKind::kBytes:
      return Value::Text(TakeText(*static_cast<const wf_bytes*>(address)));
    case TypeKind::kTensor: {
      const auto& tensor = *static_cast<const wf_tensor*>(address);
      WF_CHECK(tensor.dtype == static_cast<uint8_t>(type.dtype) && tensor.rank == type.dims.size(), tensor.dtype, tensor.rank);
      return TakeTensor(tensor);
    }
    case TypeKind::kRecord: {
      std::vector<Value> fields;
      for (size_t i = 0; i < type.fields.size(); ++i) fields.push_back(Take(types, type.fields[i].type, at + FieldOffset(types, id, i)));
      return Value::Items(std::move(fields));
    }
    case TypeKind::kOptional: {
      Value value = Value::Scalar(static_cast<uint64_t>(at[LayoutOf(types, type.element).size]));
      if (value.bits != 0) value.items = std::make_shared<const std::vector<Value>>(1, Take(types, type.element, at));
      return value;
    }
    case TypeKind::kList: {
      const auto& list = *static_cast<const wf_list*>(address);
      const uint32_t size = LayoutOf(types, type.element).size;
      std::vector<Value> items;
      for (uint64_t i = 0; i < list.len; ++i) items.push_back(Take(types, type.element, static_cast<const char*>(list.ptr) + i * size));
      return Value::Items(std::move(items));
    }
    case TypeKind::kMap:
      return TakeMap(types, type, *static_cast<const wf_list*>(address));
  }
  return {};
}

namespace {

// Writes one value. `allocate` gives memory, or null, and then the value is not whole.
class Putter {
 public:
  Putter(const TypeTable& types, const Allocate& allocate) : types_(types), allocate_(allocate) {}

  bool Put(TypeId id, const Value& value, char* at) const {
    const Type& type = types_[id];
    switch (type.kind) {
      case TypeKind::kScalar:
        std::memcpy(at, &value.bits, SizeOf(type.dtype));
        return true;
      case TypeKind::kString:
      case TypeKind::kBytes:
        return value.text == nullptr ? PutText("", at) : PutText(*value.text, at);
      case TypeKind::kTensor:
        return PutTensor(type, value, at);
      case TypeKind::kRecord:
        for (size_t i = 0; i < type.fields.size(); ++i) {
          if (!Put(type.fields[i].type, (*value.items)[i], at + FieldOffset(types_, id, i))) return false;
        }
        return true;
      case TypeKind::kOptional:
        std::memset(at, 0, LayoutOf(types_, id).size);
        at[LayoutOf(types_, type.element).size] = value.bits == 0 ? 0 : 1;
        return value.bits == 0 || Put(type.element, (*value.items)[0], at);
      case TypeKind::kList:
      case TypeKind::kMap:
        return PutItems(type, value, at);
    }
    return false;
  }

 private:
  bool PutText(const std::string& text, char* at) const {
    auto* const copy = static_cast<uint8_t*>(allocate_(text.size()));
    if (copy == nullptr) return false;
    std::memcpy(copy, text.data(), text.size());
    const wf_bytes view{copy, text.size()};
    std::memcpy(at, &view, sizeof view);
    return true;
  }

  bool PutTensor(const Type& type, const Value& value, char* at) const {
    wf_tensor tensor = DenseTensor(type, value);
    tensor.data = allocate_(value.text->size());
    if (tensor.data == nullptr) return false;
    std::memcpy(tensor.data, value.text->data(), value.text->size());
    std::memcpy(at, &tensor, sizeof tensor);
    return true;
  }

  bool PutItems(const Type& type, const Value& value, char* at) const {
    const bool is_map = type.kind == TypeKind::kMap;
    const EntryLayout entry = is_map ? MapEntry(types_, type.element) : EntryLayout{0, LayoutOf(types_, type.element).size, 1};
    const size_t count = value.items == nullptr ? 0 : value.items->size();
    auto* const items = static_cast<char*>(allocate_(count * entry.size));
    if (items == nullptr) return false;
    for (size_t i = 0; i < count; ++i) {
      char* const item = items + i * entry.size;
      if (is_map && !PutText((*value.keys)[i], item)) return false;
      if (!Put(type.element, (*value.items)[i], item + entry.value_offset)) return false;
    }
    const wf_list list{items, count};
    std::memcpy(at, &list, sizeof list);
    return true;
  }

  const TypeTable& types_;
  const Allocate& allocate_;
};

}  // namespace

bool Put(const TypeTable& types, TypeId type, const Value& value, void* address, const Allocate& allocate) {
  return Putter(types, allocate).Put(type, value, static_cast<char*>(address));
}

wf_tensor DenseTensor(const Type& type, const Value& value) {
  wf_tensor tensor{};
  tensor.dtype = static_cast<uint8_t>(type.dtype);
  tensor.rank = static_cast<uint8_t>(value.dims.size());
  int64_t stride = 1;
  for (size_t axis = value.dims.size(); axis-- > 0;) {
    tensor.dim[axis] = value.dims[axis];
    tensor.stride[axis] = stride;
    stride *= value.dims[axis];
  }
  return tensor;
}

}  // namespace wf::ir
