#include "compiler/ir/value.h"

#include <algorithm>
#include <cstring>

#include "compiler/ir/scalar.h"
#include "runtime/base/check.h"

namespace wf::ir {
namespace {

uint64_t ElementBits(DType dtype, const std::string& elements, size_t index) {
  uint64_t bits = 0;
  std::memcpy(&bits, elements.data() + index * SizeOf(dtype), SizeOf(dtype));
  return bits;
}

constexpr size_t kMostOfText = size_t{64} << 10;  // that a hash of the beginning reads

size_t CountOf(const Value& value) { return value.items ? value.items->size() : 0; }

bool SameItems(const TypeTable& types, TypeId element, const Value& a, const Value& b) {
  if (CountOf(a) != CountOf(b)) return false;
  if (a.items == b.items) return true;
  for (size_t i = 0; i < CountOf(a); ++i) {
    if (!SameBits(types, element, (*a.items)[i], (*b.items)[i])) return false;
  }
  return true;
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      static constexpr char kDigits[] = "0123456789abcdef";
      quoted += "\\x";
      quoted += kDigits[static_cast<unsigned char>(c) >> 4];
      quoted += kDigits[c & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string TensorText(DType dtype, const Value& value) {
  std::string text = "[";
  for (size_t axis = 0; axis < value.dims.size(); ++axis) text += (axis ? "x" : "") + std::to_string(value.dims[axis]);
  text += "]{";
  const size_t count = value.text ? value.text->size() / SizeOf(dtype) : 0;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + ScalarText(dtype, ElementBits(dtype, *value.text, i));
  return text + "}";
}

std::string Joined(const TypeTable& types, TypeId element, const Value& value) {
  std::string text;
  for (size_t i = 0; i < CountOf(value); ++i) {
    if (i) text += ", ";
    if (value.keys) text += Quoted((*value.keys)[i]) + ": ";
    text += ToString(types, element, (*value.items)[i]);
  }
  return text;
}

// Of so many parts at most; `hash_text` takes each text and tensor.
template <typename HashText>
size_t HashOf(const Value& value, size_t& left, const HashText& hash_text) {
  size_t hash = std::hash<uint64_t>{}(value.bits);
  const auto mix = [&](size_t part) { hash = (hash ^ part) * 0x9e3779b97f4a7c15u + (hash >> 29); };
  if (value.text) {
    mix(value.text->size());
    mix(hash_text(value.text));
  }
  for (const int64_t dim : value.dims) mix(static_cast<size_t>(dim));
  mix(CountOf(value));
  for (size_t i = 0; i < CountOf(value) && left > 0; ++i) {
    --left;
    if (value.keys) mix(std::hash<std::string>{}((*value.keys)[i]));
    mix(HashOf((*value.items)[i], left, hash_text));
  }
  return hash;
}

}  // namespace

Value Value::Text(std::string text) {
  Value value;
  value.text = std::make_shared<const std::string>(std::move(text));
  return value;
}

Value Value::Tensor(std::vector<int64_t> dims, std::string elements) {
  Value value = Text(std::move(elements));
  value.dims = std::move(dims);
  return value;
}

Value Value::Items(std::vector<Value> items) {
  Value value;
  value.items = std::make_shared<const std::vector<Value>>(std::move(items));
  return value;
}

size_t HashOf(const Value& value) {
  size_t parts = 10'000, bytes = size_t{1} << 20;
  return HashOf(value, parts, [&bytes](const auto& text) {
    const std::string_view begin = std::string_view(*text).substr(0, std::min(kMostOfText, bytes));
    bytes -= begin.size();
    return std::hash<std::string_view>{}(begin);
  });
}

size_t WholeHashOf(const Value& value, TextHashes& known) {
  size_t parts = SIZE_MAX;
  return HashOf(value, parts, [&](const std::shared_ptr<const std::string>& text) {
    if (text->size() < kLongText) return std::hash<std::string>{}(*text);
    const auto [at, is_new] = known.try_emplace(text);
    if (is_new) at->second = std::hash<std::string>{}(*text);
    return at->second;
  });
}

bool SameBits(const TypeTable& types, TypeId type_id, const Value& a, const Value& b) {
  const Type& type = types[type_id];
  switch (type.kind) {
    case TypeKind::kScalar:
      return SameScalar(type.dtype, a.bits, b.bits);
    case TypeKind::kString:
    case TypeKind::kBytes:
      return a.text && b.text && (a.text == b.text || *a.text == *b.text);
    case TypeKind::kTensor: {
      if (a.dims != b.dims || !a.text || !b.text || a.text->size() != b.text->size()) return false;
      if (a.text == b.text || *a.text == *b.text) return true;
      const size_t count = a.text->size() / SizeOf(type.dtype);
      for (size_t i = 0; i < count; ++i) {
        if (!SameScalar(type.dtype, ElementBits(type.dtype, *a.text, i), ElementBits(type.dtype, *b.text, i))) return false;
      }
      return true;
    }
    case TypeKind::kRecord:
      if (a.items == b.items) return true;
      for (size_t i = 0; i < type.fields.size(); ++i) {
        if (!SameBits(types, type.fields[i].type, (*a.items)[i], (*b.items)[i])) return false;
      }
      return true;
    case TypeKind::kList:
      return SameItems(types, type.element, a, b);
    case TypeKind::kMap:
      return CountOf(a) == CountOf(b) && (CountOf(a) == 0 || *a.keys == *b.keys) && SameItems(types, type.element, a, b);
    case TypeKind::kOptional:
      return a.bits == b.bits && (a.bits == 0 || SameBits(types, type.element, (*a.items)[0], (*b.items)[0]));
  }
  WF_CHECK(false, static_cast<int>(type.kind));
  return false;
}

std::string ToString(const TypeTable& types, TypeId type_id, const Value& value) {
  const Type& type = types[type_id];
  switch (type.kind) {
    case TypeKind::kScalar:
      return ScalarText(type.dtype, value.bits);
    case TypeKind::kString:
    case TypeKind::kBytes:
      return Quoted(value.text ? *value.text : std::string());
    case TypeKind::kTensor:
      return TensorText(type.dtype, value);
    case TypeKind::kRecord: {
      std::string text = type.name + "(";
      for (size_t i = 0; i < type.fields.size(); ++i) {
        text += (i ? ", " : "") + type.fields[i].name + ": " + ToString(types, type.fields[i].type, (*value.items)[i]);
      }
      return text + ")";
    }
    case TypeKind::kList:
      return "[" + Joined(types, type.element, value) + "]";
    case TypeKind::kMap:
      return "{" + Joined(types, type.element, value) + "}";
    case TypeKind::kOptional:
      return value.bits ? "some(" + ToString(types, type.element, (*value.items)[0]) + ")" : "none";
  }
  WF_CHECK(false, static_cast<int>(type.kind));
  return {};
}

}  // namespace wf::ir
