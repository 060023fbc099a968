// Code for the help of several messages.

#include "compiler/sema/help.h"

#include <algorithm>
#include <array>

#include "compiler/ir/scalar.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {

std::string HelpToCompareIn(const std::string& name) {
  return "an arm takes a literal, as `1 => ..`, or a new name for whatever is left; `" + name + "` is compared: `if x == " + name +
         " { .. } else { .. }`";
}

std::optional<std::string> HelpWithTruth(const Body& body, const Expr& value, bool negated) {
  if (value.kind == ExprKind::kScalar) return std::nullopt;
  const std::string code = CodeAt(body, value.span, "x");
  const std::string differs = negated ? " == " : " != ";
  const auto compared = [&](const std::string& text) { return "compare it: `" + text + "`"; };
  switch (value.type->kind) {
    case TypeKind::kOptional:
      if (value.type->element->kind == TypeKind::kScalar && value.type->element->dtype == DType::kBool) return std::nullopt;
      return compared(code + differs + "none");
    case TypeKind::kString:
      return compared(code + differs + "\"\"");
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kBytes:
      return compared("len(" + code + ")" + (negated ? " == 0" : " > 0"));
    case TypeKind::kScalar:
      if (value.type->dtype == DType::kBool) return std::nullopt;
      return compared(code + differs + (ir::IsFloat(value.type->dtype) ? "0.0" : "0"));
    default:
      return std::nullopt;
  }
}

namespace {

// The text of the quotient that a symbol of `dim` stands for; empty: there is none.
std::string QuotientIn(const Dim& dim) {
  for (const std::string& symbol : dim.Symbols()) {
    if (symbol.find('/') != std::string::npos) return symbol.substr(0, symbol.find('#'));
  }
  return "";
}

std::string WithoutBlanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace

std::optional<std::string> HelpWithDivision(const Dim& left, const Dim& right) {
  const std::string of_left = QuotientIn(left), of_right = QuotientIn(right);
  if (of_left.empty() == of_right.empty()) return std::nullopt;
  if (WithoutBlanks(left.ToString()) != WithoutBlanks(right.ToString())) return std::nullopt;
  return "`" + of_left + of_right + "` of integers rounds towards 0, that of dimensions down: they differ below 0";
}

std::string HelpToCompareParts(const Body& body, TypeRef wanted, const Expr& value) {
  const bool holds_dims = wanted->element != nullptr && wanted->element->kind == TypeKind::kTensor;
  if (wanted->kind == TypeKind::kOptional && holds_dims)
    return "an extent in a `T?` is not compared when it runs, that of what is there is: `match " + CodeAt(body, value.span, "x") +
           " { none => .., v => f(v) }`";
  if (wanted->kind == TypeKind::kList && holds_dims) {
    const std::string each = body.Find("y") ? "v" : "y";
    return "an extent in a list is not compared when it runs, that of each element is: `[" + each + " for " + each + " in " +
           CodeAt(body, value.span, "xs") + "]`";
  }
  return "an extent in a list, map or optional is not compared when it runs, that of a tensor is";
}

Indices IndicesOf(const Body& body, const Expr& value) {
  constexpr std::string_view kNames = "ijklmnopqrstuvwxyz";
  const std::vector<Dim>& dims = value.type->dims;
  const size_t axes = std::max<size_t>(dims.size(), 1);
  Indices indices;
  size_t at = 0;
  for (size_t axis = 0; axis < axes; ++axis) {
    std::string name;
    do {
      name = at < kNames.size() ? std::string(1, kNames[at]) : "i" + std::to_string(at);
      ++at;
    } while (body.Find(name) || body.symbols.contains(name));
    const std::string extent = axis == 0 ? "len(" + CodeAt(body, value.span, "x") + ")" : dims[axis].ToString();
    const std::string_view comma = axis == 0 ? "" : ", ";
    indices.names.append(comma).append(name);
    indices.bound.append(comma).append(name);
    if (extent.find_first_of("#_") == std::string::npos || axis == 0) indices.bound += " < " + extent;
  }
  return indices;
}

std::string Indexable(const Body& body, const Expr& value) {
  constexpr std::array kPostfix = {ExprKind::kLocal, ExprKind::kField,     ExprKind::kConst,   ExprKind::kCallFn,
                                   ExprKind::kIndex, ExprKind::kListIndex, ExprKind::kBuiltin, ExprKind::kList};
  const std::string text = CodeAt(body, value.span, "x");
  return text == "x" || std::find(kPostfix.begin(), kPostfix.end(), value.kind) != kPostfix.end() ? text : "(" + text + ")";
}

std::string ReducedBy(const Body& body, std::string_view reducer, const Expr& value) {
  const bool is_list = value.type->kind == TypeKind::kList && value.type->element->kind == TypeKind::kScalar;
  if (!is_list && value.type->kind != TypeKind::kTensor) return "";
  const Indices indices = IndicesOf(body, value);
  return std::string(reducer) + "[" + (is_list ? indices.bound : indices.names) + "](" + Indexable(body, value) + "[" + indices.names +
         "])";
}

std::string HelpToReadText(const std::string& type, const std::string& text) {
  return "a text is read by std.json, as the type that is wanted: `let n: " + type + " = json.parse(" + text + ");`";
}

}  // namespace wf::sema
