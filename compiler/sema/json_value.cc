#include "compiler/sema/json_value.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "compiler/ir/scalar.h"
#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

using base::Result;
using base::Status;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<ir::Value> Whole(TypeRef type) {
    auto value = Read(type);
    if (!value.ok()) return value;
    Space();
    if (at_ != text_.size()) return Wrong("the end of the text");
    return value;
  }

 private:
  Result<ir::Value> Read(TypeRef type) {
    Space();
    switch (type->kind) {
      case TypeKind::kScalar: {
        uint64_t bits = 0;
        WF_RETURN_IF_ERROR(Number(type->dtype, bits));
        return ir::Value::Scalar(bits);
      }
      case TypeKind::kString: {
        std::string text;
        WF_RETURN_IF_ERROR(String(text));
        ir::Value value;
        value.text = std::make_shared<const std::string>(std::move(text));
        return value;
      }
      case TypeKind::kTensor:
        return Tensor(*type);
      case TypeKind::kList:
        return List(type->element);
      case TypeKind::kMap:
        return Map(type->element);
      case TypeKind::kRecord:
        return Record(*type);
      case TypeKind::kOptional:
        return Optional(type->element);
      case TypeKind::kError:
      case TypeKind::kNever:
      case TypeKind::kNone:
      case TypeKind::kBytes:
      case TypeKind::kVariable:
        break;
    }
    return Status(base::kInvalidArgument, "`" + ToString(type) + "` cannot stand in JSON");
  }

  Status Wrong(std::string_view wanted) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // of none, npos + 1 is 0
    return {base::kInvalidArgument,
            "line " + std::to_string(line) + ", column " + std::to_string(column) + ": wanted " + std::string(wanted)};
  }
  void Space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool Take(char c) {
    Space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  Status Number(DType dtype, uint64_t& bits) {
    Space();
    if (dtype == DType::kBool) {
      if (TakeWord("true"))
        bits = 1;
      else if (!TakeWord("false"))
        return Wrong("true or false");
      return Status::Ok();
    }
    const std::string_view rest = text_.substr(at_, std::min<size_t>(400, text_.size() - at_));
    const size_t length = std::min(rest.find_first_not_of("+-0123456789.eE"), rest.size());
    const std::string_view digits = rest.substr(0, length);
    const bool sound = !digits.empty() && digits[0] != '+' && digits[0] != '.' &&
                       (ir::IsFloat(dtype) ? Float(dtype, digits, bits) : Integer(dtype, digits, bits));
    if (!sound) return Wrong("a number of type `" + std::string(ir::NameOf(dtype)) + "`");
    at_ += length;
    return Status::Ok();
  }
  static bool Float(DType dtype, std::string_view digits, uint64_t& bits) {
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return false;
    if (dtype == DType::kF64) {
      bits = ir::F64Bits(value);
      return true;
    }
    float narrow = 0;
    const auto [narrow_end, narrow_error] = std::from_chars(digits.data(), digits.data() + digits.size(), narrow);
    if (narrow_error != std::errc()) return false;
    bits = ir::F32Bits(narrow);
    if (dtype != DType::kF32) bits = ir::ConvertScalar(DType::kF32, dtype, bits);
    return true;
  }
  static bool Integer(DType dtype, std::string_view digits, uint64_t& bits) {
    if (ir::IsSigned(dtype)) {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      bits = ir::MaskTo(dtype, static_cast<uint64_t>(value));
      return error == std::errc() && end == digits.data() + digits.size() && ir::SignedOf(dtype, bits) == value;
    }
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    bits = ir::MaskTo(dtype, value);
    return error == std::errc() && end == digits.data() + digits.size() && bits == value;
  }

  static void AppendCodePoint(uint32_t c, std::string& out) {
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += static_cast<char>(0xc0 | (c >> 6));
      out += static_cast<char>(0x80 | (c & 63));
    } else if (c < 0x10000) {
      out += static_cast<char>(0xe0 | (c >> 12));
      out += static_cast<char>(0x80 | ((c >> 6) & 63));
      out += static_cast<char>(0x80 | (c & 63));
    } else {
      out += static_cast<char>(0xf0 | (c >> 18));
      out += static_cast<char>(0x80 | ((c >> 12) & 63));
      out += static_cast<char>(0x80 | ((c >> 6) & 63));
      out += static_cast<char>(0x80 | (c & 63));
    }
  }
  bool Hex4(uint32_t& value) {
    if (text_.size() - at_ < 4) return false;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, value, 16);
    at_ += 4;
    return error == std::errc() && end == text_.data() + at_;
  }
  bool Escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    const char c = text_[at_++];
    if (const size_t known = kFrom.find(c); known != std::string_view::npos) {
      out += kTo[known];
      return true;
    }
    uint32_t high = 0, low = 0;
    if (c != 'u' || !Hex4(high) || (high >= 0xdc00 && high < 0xe000)) return false;
    if (high >= 0xd800 && high < 0xdc00) {
      if (!TakeWord("\\u") || !Hex4(low) || low < 0xdc00 || low >= 0xe000) return false;
      high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    AppendCodePoint(high, out);
    return true;
  }
  Status String(std::string& out) {
    if (!Take('"')) return Wrong("a string");
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return Status::Ok();
      if (static_cast<unsigned char>(c) < 0x20) return Wrong("no control character in a string");
      if (c != '\\') {
        out += c;
      } else if (!Escape(out)) {
        return Wrong("a known escape");
      }
    }
    return Wrong("the end of a string");
  }

  // [a, b, ..] with `each` for every element.
  template <typename Each>
  Status Array(Each each) {
    if (!Take('[')) return Wrong("`[`");
    if (Take(']')) return Status::Ok();
    do {
      WF_RETURN_IF_ERROR(each());
    } while (Take(','));
    return Take(']') ? Status::Ok() : Wrong("`,` or `]`");
  }
  template <typename Each>
  Status Object(Each each) {
    if (!Take('{')) return Wrong("`{`");
    if (Take('}')) return Status::Ok();
    do {
      std::string name;
      Space();
      WF_RETURN_IF_ERROR(String(name));
      if (!Take(':')) return Wrong("`:`");
      WF_RETURN_IF_ERROR(each(std::move(name)));
    } while (Take(','));
    return Take('}') ? Status::Ok() : Wrong("`,` or `}`");
  }

  Status Axis(const Type& type, size_t axis, std::vector<int64_t>& dims, std::string& elements) {
    if (axis == type.dims.size()) {
      uint64_t bits = 0;
      WF_RETURN_IF_ERROR(Number(type.dtype, bits));
      elements.append(reinterpret_cast<const char*>(&bits), ir::SizeOf(type.dtype));
      return Status::Ok();
    }
    int64_t count = 0;
    WF_RETURN_IF_ERROR(Array([&] {
      ++count;
      return Axis(type, axis + 1, dims, elements);
    }));
    const auto wanted = type.dims[axis].constant();
    if (dims[axis] < 0) dims[axis] = count;
    if (dims[axis] != count || (wanted && *wanted != count)) {
      return Wrong("an array of " + std::to_string(wanted.value_or(dims[axis])) + ", found " + std::to_string(count));
    }
    return Status::Ok();
  }
  Result<ir::Value> Tensor(const Type& type) {
    ir::Value value;
    std::string elements;
    value.dims.assign(type.dims.size(), -1);
    WF_RETURN_IF_ERROR(Axis(type, 0, value.dims, elements));
    for (int64_t& dim : value.dims) dim = std::max<int64_t>(dim, 0);
    value.text = std::make_shared<const std::string>(std::move(elements));
    return value;
  }
  Result<ir::Value> List(TypeRef element) {
    std::vector<ir::Value> items;
    WF_RETURN_IF_ERROR(Array([&]() -> Status {
      auto item = Read(element);
      if (!item.ok()) return item.status();
      items.push_back(std::move(*item));
      return Status::Ok();
    }));
    ir::Value value;
    value.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
    return value;
  }
  Result<ir::Value> Map(TypeRef element) {
    std::map<std::string, ir::Value> entries;
    WF_RETURN_IF_ERROR(Object([&](std::string name) -> Status {
      auto item = Read(element);
      if (!item.ok()) return item.status();
      if (!entries.emplace(std::move(name), std::move(*item)).second) return Wrong("each key once");
      return Status::Ok();
    }));
    std::vector<ir::Value> items;
    std::vector<std::string> keys;
    for (auto& [key, item] : entries) {
      keys.push_back(key);
      items.push_back(std::move(item));
    }
    ir::Value value;
    value.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
    value.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
    return value;
  }
  Result<ir::Value> Record(const Type& type) {
    std::vector<std::optional<ir::Value>> fields(type.fields.size());
    WF_RETURN_IF_ERROR(Object([&](const std::string& name) -> Status {
      const auto at = std::find_if(type.fields.begin(), type.fields.end(), [&](const Field& field) { return field.name == name; });
      if (at == type.fields.end()) return Wrong("a member of `" + type.name + "`, found `" + name + "`");
      auto& slot = fields[static_cast<size_t>(at - type.fields.begin())];
      if (slot) return Wrong("`" + name + "` once");
      auto item = Read(at->type);
      if (!item.ok()) return item.status();
      slot = std::move(*item);
      return Status::Ok();
    }));
    ir::Value value;
    std::vector<ir::Value> items;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i] && type.fields[i].type->kind != TypeKind::kOptional) return Wrong("a member `" + type.fields[i].name + "`");
      items.push_back(fields[i] ? std::move(*fields[i]) : ir::Value{});
    }
    value.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
    return value;
  }
  Result<ir::Value> Optional(TypeRef element) {
    if (TakeWord("null")) return ir::Value{};
    auto inner = Read(element);
    if (!inner.ok()) return inner;
    ir::Value value = ir::Value::Scalar(1);
    value.items = std::make_shared<const std::vector<ir::Value>>(std::vector<ir::Value>{std::move(*inner)});
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<ir::Value> ReadJson(std::string_view text, TypeRef type) { return Reader(text).Whole(type); }

TypeRef TypeOfValue(Types& types, TypeRef type, const ir::Value& value) {
  if (type->kind != TypeKind::kTensor || value.dims.size() != type->dims.size()) return type;
  std::vector<Dim> dims = type->dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].is_constant()) dims[i] = Dim(value.dims[i]);
  }
  return types.Tensor(type->dtype, std::move(dims));
}

}  // namespace wf::sema
