#include "compiler/lsp/value_text.h"

#include <algorithm>
#include <cstring>

#include "compiler/base/utf8.h"
#include "compiler/ir/scalar.h"
#include "runtime/base/json_text.h"

namespace wf::lsp {
namespace {

using sema::TypeKind;

class Writer {
 public:
  Writer(size_t most, const sema::RecordNames& name_of) : most_(most), name_of_(name_of) {}

  void Write(sema::TypeRef type, const ir::Value& value);
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
  void Record(sema::TypeRef type, const ir::Value& value);

  const size_t most_;
  const sema::RecordNames& name_of_;
  std::string text_;
};

void Writer::String(std::string_view text) {
  constexpr size_t kFew = 16;  // of each string, however much stands before it
  const size_t most = std::max(kFew, most_ - std::min(most_, text_.size()));
  size_t end = 0;
  while (end < text.size() && end < most) end += source::DecodeUtf8(text.substr(end)).length;
  const std::string quoted = base::QuoteJson(text.substr(0, end));
  for (const char c : std::string_view(quoted).substr(0, quoted.size() - 1))
    text_ += (c == '{' || c == '}') ? std::string(2, c) : std::string(1, c);
  text_ += end < text.size() ? "..\"" : "\"";
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

void Writer::Record(sema::TypeRef type, const ir::Value& value) {
  if (!type->name.empty()) text_ += name_of_(type);
  Sequence("(", ")", type->fields.size(), [&](size_t i) {
    text_ += type->fields[i].name + ": ";
    Write(type->fields[i].type, (*value.items)[i]);
  });
}

void Writer::Write(sema::TypeRef type, const ir::Value& value) {
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

std::string ValueText(sema::TypeRef type, const ir::Value& value, size_t most, const sema::RecordNames& name_of) {
  if (type->kind == TypeKind::kBytes) return "";
  Writer writer(most, name_of);
  writer.Write(type, value);
  return writer.Take();
}

}  // namespace wf::lsp
