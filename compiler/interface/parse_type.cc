// Types and dimensions as ToString writes them. Bounds: kMaxDepth of nesting.

#include <charconv>

#include "compiler/interface/interface.h"

namespace wf::interface {
namespace {

using base::Dim;

constexpr int kMaxDepth = 64;

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

ir::DType DTypeOf(std::string_view name) {
  for (auto number = static_cast<uint8_t>(ir::DType::kBool); number <= static_cast<uint8_t>(ir::DType::kF64); ++number) {
    if (ir::NameOf(ir::DType{number}) == name) return ir::DType{number};
  }
  return ir::DType::kNone;
}

class Parser {
 public:
  Parser(std::string_view text, base::UnknownDims& unknown) : text_(text), unknown_(unknown) {}

  bool Whole(Type* type) { return Read(type) && at_ == text_.size(); }

 private:
  char Next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Next() != c) return false;
    ++at_;
    return true;
  }
  // Dots join the parts of names of other modules, and stand in symbols that models made.
  std::string Word() {
    if (!IsWordStart(Next())) return "";
    const size_t from = at_;
    while (at_ < text_.size() && (IsWordStart(text_[at_]) || IsDigit(text_[at_]) || text_[at_] == '.')) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  bool Read(Type* type) {
    if (++depth_ > kMaxDepth || !ReadPlain(type)) return false;
    --depth_;
    if (!Take('?')) return true;
    Type optional{.kind = ir::TypeKind::kOptional, .element = {std::move(*type)}};
    *type = std::move(optional);
    return true;
  }

  bool ReadPlain(Type* type) {
    if (Take('(')) return ReadFields(type);
    const std::string word = Word();
    if (word.empty()) return false;
    if (word == "list" || word == "map") {
      type->kind = word == "list" ? ir::TypeKind::kList : ir::TypeKind::kMap;
      type->element.resize(1);
      return Take('<') && Read(&type->element[0]) && Take('>');
    }
    type->dtype = DTypeOf(word);
    if (type->dtype != ir::DType::kNone) return Next() != '[' || ReadDims(type);
    type->kind = word == "string" ? ir::TypeKind::kString : word == "bytes" ? ir::TypeKind::kBytes : ir::TypeKind::kRecord;
    if (type->kind == ir::TypeKind::kRecord) type->record = word;
    return true;
  }

  bool ReadFields(Type* type) {
    type->kind = ir::TypeKind::kRecord;
    while (!Take(')')) {
      if (!type->fields.empty() && !Take(',')) return false;
      Field field{.name = Word(), .type = {}};
      if (field.name.empty() || !Take(':') || !Read(&field.type)) return false;
      type->fields.push_back(std::move(field));
    }
    return true;
  }

  bool ReadDims(Type* type) {
    type->kind = ir::TypeKind::kTensor;
    if (!Take('[')) return false;
    while (!Take(']')) {
      if (!type->dims.empty() && !Take(',')) return false;
      Dim dim;
      if (!ReadSum(&dim) || dim.fault() != Dim::Fault::kNone) return false;
      type->dims.push_back(std::move(dim));
    }
    return true;
  }

  bool ReadSum(Dim* sum) {
    bool minus = Take('-');
    Dim part;
    if (!ReadProduct(&part)) return false;
    *sum = minus ? Dim(0) - part : part;
    while (Next() == '+' || Next() == '-') {
      minus = text_[at_++] == '-';
      if (!ReadProduct(&part)) return false;
      *sum = minus ? *sum - part : *sum + part;
    }
    return true;
  }

  bool ReadProduct(Dim* product) {
    if (!ReadAtom(product)) return false;
    while (Next() == '*' || Next() == '/') {
      const bool divides = text_[at_++] == '/';
      Dim factor;
      if (!ReadAtom(&factor)) return false;
      *product = divides ? Dim::FloorDiv(*product, factor) : *product * factor;
    }
    return true;
  }

  bool ReadAtom(Dim* dim) {
    if (Take('(')) {
      if (++depth_ > kMaxDepth || !ReadSum(dim)) return false;
      --depth_;
      return Take(')');
    }
    if (IsDigit(Next())) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      at_ = static_cast<size_t>(end - text_.data());
      *dim = Dim(number);
      return error == std::errc();
    }
    const std::string word = Word();
    *dim = word == "_" ? unknown_.Next() : Dim::Symbol(word);
    return !word.empty();
  }

  std::string_view text_;
  base::UnknownDims& unknown_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

base::Result<Type> ParseType(std::string_view text, base::UnknownDims& unknown) {
  Type type;
  if (Parser(text, unknown).Whole(&type)) return type;
  return base::Status(base::kInvalidArgument, "`" + std::string(text.substr(0, 80)) + "` is no type");
}

}  // namespace wf::interface
