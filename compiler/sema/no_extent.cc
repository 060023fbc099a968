// Help for an index that has no extent: those that the program has.

#include "compiler/sema/no_extent.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/index_place.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

const std::string kHowFar = "how far it goes: ";

std::string OrUnknown(const std::string& code) { return code.empty() ? ".." : code; }

// An extent in code: as a value, and as a dimension of a type, which a length is none of.
struct ExtentCode {
  std::string value, dimension;
};

// Whether a program can write it: all of its symbols are of the signature.
bool IsWritten(const Body& body, const Dim& dim) {
  const std::vector<std::string> symbols = dim.Symbols();
  return std::ranges::all_of(
      symbols, [&](const std::string& symbol) { return symbol.find('#') == std::string::npos && body.symbols.contains(symbol); });
}

ExtentCode CodeOf(Body& body, const Use& use) {
  const TypeRef type = TypeOfPlace(body, *use.expr->object);
  if (type == nullptr) return {};
  const std::string length = "len(" + CodeAt(body, use.expr->object->span, "") + ")";
  const ExtentCode by_length{length != "len()" && IsKnownHere(body, *use.expr->object) ? length : "", ""};
  if (type->kind == TypeKind::kList) return by_length;
  if (type->kind != TypeKind::kTensor || use.axis >= type->dims.size()) return {};
  const Dim& dim = type->dims[use.axis];
  if (IsWritten(body, dim)) return {dim.ToString(), dim.ToString()};
  return use.axis == 0 ? by_length : ExtentCode{};
}

// Of the axes that the index indexes alone; empty where there are none, or two differ.
ExtentCode CodeOf(Body& body, const std::string& index, const ast::Expr& inside) {
  ExtentCode found;
  for (const Use& use : UsesOf(index, inside)) {
    const ExtentCode one = CodeOf(body, use);
    if (one.value.empty() || (!found.value.empty() && found.value != one.value)) return {};
    found = one;
  }
  return found;
}

ExtentCode CodeOfWritten(const Body& body, const ast::Expr& extent) {
  const std::string code = CodeAt(body, extent.span, "..");
  return {code, body.symbols.contains(code) ? code : ""};
}

// Of an element, as far as its parts say it without being checked; kNone: they do not.
DType TypeOfElement(Body& body, const ast::LambdaExpr& lambda, const ast::Expr& expr) {
  if (const auto* paren = ast::DynAs<ast::ParenExpr>(expr)) return TypeOfElement(body, lambda, *paren->inner);
  if (const auto* unary = ast::DynAs<ast::UnaryExpr>(expr)) return TypeOfElement(body, lambda, *unary->operand);
  if (const auto* number = ast::DynAs<ast::NumberExpr>(expr))
    return number->number_kind == ast::NumberKind::kFloat ? DType::kF32 : DType::kNone;
  if (const auto* binary = ast::DynAs<ast::BinaryExpr>(expr)) {
    if (binary->op >= ast::BinaryOp::kEq && binary->op <= ast::BinaryOp::kOr) return DType::kBool;
    return TypeOfElement(body, lambda, IsLiteral(*binary->left) ? *binary->right : *binary->left);
  }
  if (const auto* call = ast::DynAs<ast::CallExpr>(expr)) {
    const auto* reduces = ast::DynAs<ast::IndexExpr>(*call->callee);  // `sum[i](x[i])`
    if (reduces != nullptr && call->arguments.size() == 1) return TypeOfElement(body, lambda, *call->arguments[0].value);
    const auto* name = ast::DynAs<ast::NameExpr>(*call->callee);
    return name != nullptr ? DTypeNamed(name->name).value_or(DType::kNone) : DType::kNone;
  }
  if (const auto* name = ast::DynAs<ast::NameExpr>(expr)) {
    const auto is_it = [&](const ast::LambdaExpr::Index& index) { return index.name.text == name->name; };
    if (std::ranges::any_of(lambda.indices, is_it)) return DType::kI64;
    const TypeRef type = TypeOfPlace(body, expr);
    return type != nullptr && type->kind == TypeKind::kScalar ? type->dtype : DType::kNone;
  }
  const auto* index = ast::DynAs<ast::IndexExpr>(expr);
  const TypeRef indexed = index != nullptr ? TypeOfPlace(body, *index->object) : nullptr;
  if (indexed == nullptr) return DType::kNone;
  if (indexed->kind == TypeKind::kList) return indexed->element->kind == TypeKind::kScalar ? indexed->element->dtype : DType::kNone;
  return indexed->kind == TypeKind::kTensor ? indexed->dtype : DType::kNone;
}

// "node y", whose value the expression is; empty: it is none's, or one's with a written type.
std::string HolderOf(const Body& body, const ast::Expr& expr) {
  constexpr uint32_t kFarthest = 100;
  const Span before{expr.span.file, expr.span.begin - std::min(expr.span.begin, kFarthest), expr.span.begin};
  std::string_view text = body.env.input.sources.Text(before);
  const auto trim = [&] { text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1); };
  const auto take_word = [&] {
    const size_t end = text.size();
    while (!text.empty() && (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_')) text.remove_suffix(1);
    return std::string(text.data() + text.size(), end - text.size());
  };
  trim();
  if (!text.ends_with('=')) return "";
  text.remove_suffix(1);
  trim();
  const std::string name = take_word();
  trim();
  const std::string word = take_word();
  return !name.empty() && (word == "node" || word == "let") ? word + " " + name : "";
}

}  // namespace

std::string ToBound(const std::string& index, const std::string& extent) {
  return (extent.empty() ? kHowFar : "") + "`" + index + " < " + OrUnknown(extent) + "`";
}

void ReportNoExtents(Body& body, const ast::LambdaExpr& expr, TypeRef wanted) {
  const bool has_wanted = wanted != nullptr && wanted->kind == TypeKind::kTensor && wanted->dims.size() == expr.indices.size();
  const ast::LambdaExpr::Index* first = nullptr;  // without an extent
  std::string bounds, dims;                       // "i < n, j < len(x)", "n, .."
  bool is_known = true, is_type = true;
  for (size_t i = 0; i < expr.indices.size(); ++i) {
    const ast::LambdaExpr::Index& index = expr.indices[i];
    const std::string comma = i == 0 ? "" : ", ";
    if (!index.extent && has_wanted && !IsAny(wanted->dims[i])) {
      bounds += comma + index.name.text;
      continue;
    }
    if (!index.extent && first == nullptr) first = &index;
    const ExtentCode code = index.extent ? CodeOfWritten(body, *index.extent) : CodeOf(body, index.name.text, *expr.body);
    is_known = is_known && !code.value.empty();
    is_type = is_type && (!code.dimension.empty() || code.value.empty());
    bounds += comma + index.name.text + " < " + OrUnknown(code.value);
    dims += comma + OrUnknown(code.dimension);
  }
  if (first == nullptr) return;
  const std::string code = expr.indices.size() == 1 ? "`" + bounds + "`" : "`[" + bounds + "]`";
  auto builder = body.env.Report(first->name.span, kNoExtent, {first->name.text, (is_known ? "" : kHowFar) + code});
  const std::string holder = wanted == nullptr && is_type ? HolderOf(body, expr) : "";
  const DType element = holder.empty() ? DType::kNone : TypeOfElement(body, expr, *expr.body);
  if (element == DType::kNone) return;
  const std::string type(ir::NameOf(element));
  builder.Help("a written type says it too: `" + holder + ": " + type + "[" + dims + "] = ..`");
}

}  // namespace wf::sema
