#include "compiler/sema/value_text.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/quote.h"
#include "compiler/base/utf8.h"
#include "compiler/ir/scalar.h"

namespace wf::sema {
namespace {

class Writer {
 public:
  Writer(size_t most, const RecordNames& name_of) : most_(most), name_of_(name_of) {}

  void Write(TypeRef type, const ir::Value& value);
  std::string Take() { return std::move(text_); }

 private:
  template <typename Element>
  void Sequence(std::string_view open, std::string_view close, size_t count, const Element& element) {
    text_ += open;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text_ += ", ";
      if (text_.size() >= most_) {
        text_ += "..";
        break;
      }
      element(i);
    }
    text_ += close;
  }
  void String(std::string_view text);
  void Tensor(ir::DType dtype, const ir::Value& value, size_t axis, size_t first);
  void Record(TypeRef type, const ir::Value& value);

  const size_t most_;
  const RecordNames& name_of_;
  std::string text_;
};

void Writer::String(std::string_view text) {
  constexpr size_t kFew = 16;  // of each string, however much stands before it
  const size_t most = std::max(kFew, most_ - std::min(most_, text_.size()));
  size_t end = 0;
  while (end < text.size() && end < most) end += source::DecodeUtf8(text.substr(end)).length;
  text_ += source::Quote(text.substr(0, end), source::Braces::kDoubled);
  if (end < text.size()) text_.insert(text_.size() - 1, "..");
}

// `first`: the number of its first element.
void Writer::Tensor(ir::DType dtype, const ir::Value& value, size_t axis, size_t first) {
  if (axis == value.dims.size()) {
    uint64_t bits = 0;
    std::memcpy(&bits, value.text->data() + first * ir::SizeOf(dtype), ir::SizeOf(dtype));
    text_ += ir::ScalarText(dtype, bits);
    return;
  }
  size_t step = 1;
  for (size_t inner = axis + 1; inner < value.dims.size(); ++inner) step *= static_cast<size_t>(value.dims[inner]);
  Sequence("[", "]", static_cast<size_t>(value.dims[axis]), [&](size_t i) { Tensor(dtype, value, axis + 1, first + i * step); });
}

void Writer::Record(TypeRef type, const ir::Value& value) {
  if (!type->name.empty()) text_ += name_of_(type);
  Sequence("(", ")", type->fields.size(), [&](size_t i) {
    text_ += type->fields[i].name + ": ";
    Write(type->fields[i].type, (*value.items)[i]);
  });
}

void Writer::Write(TypeRef type, const ir::Value& value) {
  const size_t count = value.items ? value.items->size() : 0;
  switch (type->kind) {
    case TypeKind::kScalar:
      text_ += ir::ScalarText(type->dtype, value.bits);
      return;
    case TypeKind::kString:
      return String(value.text ? *value.text : "");
    case TypeKind::kTensor:
      return Tensor(type->dtype, value, 0, 0);
    case TypeKind::kRecord:
      return Record(type, value);
    case TypeKind::kList:
      return Sequence("[", "]", count, [&](size_t i) { Write(type->element, (*value.items)[i]); });
    case TypeKind::kMap:
      return Sequence("{", "}", count, [&](size_t i) {
        String((*value.keys)[i]);
        text_ += ": ";
        Write(type->element, (*value.items)[i]);
      });
    case TypeKind::kOptional:
      if (value.bits != 0) return Write(type->element, value.items->front());
      text_ += "none";
      return;
    case TypeKind::kNone:
      text_ += "none";
      return;
    case TypeKind::kBytes:
      text_ += "..";
      return;
    case TypeKind::kError:
    case TypeKind::kNever:
    case TypeKind::kVariable:
      return;
  }
}

}  // namespace

std::string ValueText(TypeRef type, const ir::Value& value, size_t most) {
  return ValueText(type, value, most, [](TypeRef record) { return record->name; });
}

std::string ValueText(TypeRef type, const ir::Value& value, size_t most, const RecordNames& name_of) {
  if (type->kind == TypeKind::kBytes) return "";
  Writer writer(most, name_of);
  writer.Write(type, value);
  return writer.Take();
}

std::string DefaultText(TypeRef type, const ir::Value& value) {
  constexpr size_t kMostOfADefault = 80;
  return type->kind == TypeKind::kOptional && value.bits == 0 ? "" : ValueText(type, value, kMostOfADefault);
}

}  // namespace wf::sema
