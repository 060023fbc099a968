// Code for the help of several messages.

#include "compiler/sema/help.h"

#include <algorithm>
#include <array>

#include "compiler/sema/waiting.h"

namespace wf::sema {

std::string HelpToCompareIn(const std::string& name) {
  return "an arm takes a literal, as `1 => ..`, or a new name for whatever is left; `" + name + "` is compared: `if x == " + name +
         " { .. } else { .. }`";
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
