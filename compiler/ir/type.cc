#include "compiler/ir/type.h"

#include <algorithm>

#include "runtime/base/check.h"

namespace wf::ir {
namespace {

struct DTypeInfo {
  std::string_view name;
  uint8_t size;
  bool is_float, is_signed, is_storage;
};
constexpr DTypeInfo kDTypes[] = {{"none", 0, false, false, false}, {"bool", 1, false, false, false}, {"i8", 1, false, true, true},
                                 {"i16", 2, false, true, true},    {"i32", 4, false, true, false},   {"i64", 8, false, true, false},
                                 {"u8", 1, false, false, true},    {"u16", 2, false, false, true},   {"u32", 4, false, false, false},
                                 {"u64", 8, false, false, false},  {"f16", 2, true, true, true},     {"bf16", 2, true, true, true},
                                 {"f32", 4, true, true, false},    {"f64", 8, true, true, false}};
const DTypeInfo& Info(DType dtype) { return kDTypes[static_cast<size_t>(dtype)]; }

void Mix(size_t& hash, size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u + (hash >> 29); }

size_t HashOf(const Type& type) {
  size_t hash = static_cast<size_t>(type.kind) * 31 + static_cast<size_t>(type.dtype);
  for (int64_t dim : type.dims) Mix(hash, static_cast<size_t>(dim));
  Mix(hash, static_cast<size_t>(type.element));
  for (const Field& field : type.fields) {
    Mix(hash, std::hash<std::string>{}(field.name));
    Mix(hash, static_cast<size_t>(field.type));
  }
  Mix(hash, std::hash<std::string>{}(type.name));
  return hash;
}

uint32_t RoundUp(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }

}  // namespace

std::string_view NameOf(DType dtype) { return Info(dtype).name; }
size_t SizeOf(DType dtype) { return Info(dtype).size; }
bool IsFloat(DType dtype) { return Info(dtype).is_float; }
bool IsSigned(DType dtype) { return Info(dtype).is_signed; }
bool IsStorageOnly(DType dtype) { return Info(dtype).is_storage; }

TypeId TypeTable::Intern(Type type) {
  const size_t hash = HashOf(type);
  auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if ((*this)[at->second] == type) return at->second;
  }
  const TypeId id{static_cast<uint32_t>(types_.size())};
  types_.push_back(std::move(type));
  by_hash_.emplace(hash, id);
  return id;
}

std::string TypeTable::ToString(TypeId id) const {
  if (id == TypeId::kNone) return "none";
  const Type& type = (*this)[id];
  std::string text;
  switch (type.kind) {
    case TypeKind::kScalar:
      return std::string(NameOf(type.dtype));
    case TypeKind::kString:
      return "string";
    case TypeKind::kBytes:
      return "bytes";
    case TypeKind::kTensor:
      text = std::string(NameOf(type.dtype)) + "[";
      for (size_t axis = 0; axis < type.dims.size(); ++axis) {
        text += (axis ? ", " : "") + (type.dims[axis] < 0 ? std::string("_") : std::to_string(type.dims[axis]));
      }
      return text + "]";
    case TypeKind::kList:
      return "list<" + ToString(type.element) + ">";
    case TypeKind::kMap:
      return "map<" + ToString(type.element) + ">";
    case TypeKind::kOptional:
      return ToString(type.element) + "?";
    case TypeKind::kRecord:
      if (!type.name.empty()) return type.name;
      text = "(";
      for (size_t i = 0; i < type.fields.size(); ++i) {
        text += (i ? ", " : "") + type.fields[i].name + ": " + ToString(type.fields[i].type);
      }
      return text + ")";
  }
  WF_CHECK(false, static_cast<int>(type.kind));
  return {};
}

Layout LayoutOf(const TypeTable& types, TypeId id) {
  const Type& type = types[id];
  switch (type.kind) {
    case TypeKind::kScalar: {
      const auto size = static_cast<uint32_t>(SizeOf(type.dtype));
      return {size, size};
    }
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      return {16, 8};
    case TypeKind::kTensor:
      return {144, 8};
    case TypeKind::kOptional: {
      const Layout value = LayoutOf(types, type.element);
      return {RoundUp(value.size + 1, value.align), value.align};
    }
    case TypeKind::kRecord: {
      Layout record{0, 1};
      for (const Field& field : type.fields) {
        const Layout layout = LayoutOf(types, field.type);
        record.size = RoundUp(record.size, layout.align) + layout.size;
        record.align = std::max(record.align, layout.align);
      }
      return {RoundUp(record.size, record.align), record.align};
    }
  }
  WF_CHECK(false, static_cast<int>(type.kind));
  return {};
}

uint32_t FieldOffset(const TypeTable& types, TypeId record, size_t field) {
  const Type& type = types[record];
  WF_CHECK(type.kind == TypeKind::kRecord && field < type.fields.size(), field);
  uint32_t offset = 0;
  for (size_t i = 0;; ++i) {
    const Layout layout = LayoutOf(types, type.fields[i].type);
    offset = RoundUp(offset, layout.align);
    if (i == field) return offset;
    offset += layout.size;
  }
}

EntryLayout MapEntry(const TypeTable& types, TypeId element) {
  const Layout key{16, 8}, value = LayoutOf(types, element);
  const uint32_t align = std::max(value.align, key.align), at = RoundUp(key.size, value.align);
  return {at, RoundUp(at + value.size, align), align};
}

bool Fits(const TypeTable& types, TypeId from, TypeId to) {
  if (from == to) return true;
  if (from == TypeId::kNone || to == TypeId::kNone) return false;
  const Type &a = types[from], &b = types[to];
  if (a.kind != b.kind || a.dtype != b.dtype || a.dims.size() != b.dims.size() || a.fields.size() != b.fields.size()) return false;
  if (a.name != b.name) return false;
  for (size_t axis = 0; axis < a.dims.size(); ++axis) {
    if (a.dims[axis] >= 0 && b.dims[axis] >= 0 && a.dims[axis] != b.dims[axis]) return false;
  }
  for (size_t i = 0; i < a.fields.size(); ++i) {
    if (a.fields[i].name != b.fields[i].name || !Fits(types, a.fields[i].type, b.fields[i].type)) return false;
  }
  return a.element == b.element || Fits(types, a.element, b.element);
}

TypeId Join(TypeTable& types, TypeId a, TypeId b) {
  if (a == b) return a;
  if (a == TypeId::kNone || b == TypeId::kNone) return TypeId::kNone;
  Type joined = types[a];
  const Type other = types[b];
  if (joined.kind != other.kind || joined.dtype != other.dtype || joined.dims.size() != other.dims.size() || joined.name != other.name ||
      joined.fields.size() != other.fields.size()) {
    return TypeId::kNone;
  }
  for (size_t axis = 0; axis < joined.dims.size(); ++axis) {
    if (joined.dims[axis] != other.dims[axis]) joined.dims[axis] = -1;
  }
  for (size_t i = 0; i < joined.fields.size(); ++i) {
    if (joined.fields[i].name != other.fields[i].name) return TypeId::kNone;
    joined.fields[i].type = Join(types, joined.fields[i].type, other.fields[i].type);
    if (joined.fields[i].type == TypeId::kNone) return TypeId::kNone;
  }
  if (joined.element != other.element) {
    joined.element = Join(types, joined.element, other.element);
    if (joined.element == TypeId::kNone) return TypeId::kNone;
  }
  return types.Intern(std::move(joined));
}

}  // namespace wf::ir
