// Small integer tensors by value: what shapes are computed from.
#include <algorithm>
#include <string_view>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using Content = std::vector<Dim>;

// An extent, or made of extents: an unknown of a node may be any number that data computes.
bool IsNonNegative(const Dim& dim) {
  if (const auto constant = dim.constant()) return *constant >= 0;
  if (dim.fault() != Dim::Fault::kNone) return false;
  for (const std::string& symbol : dim.Symbols()) {
    if (symbol.starts_with("_#n") || symbol.starts_with("_#x")) return false;
  }
  const std::vector<Dim::Term> terms = dim.terms();
  return std::all_of(terms.begin(), terms.end(), [](const Dim::Term& term) { return term.coefficient >= 0; });
}

// -1, 0 or 1: how a stands to b, for all values of the symbols.
std::optional<int> OrderOf(const Dim& a, const Dim& b) {
  if (a == b) return 0;
  const Dim difference = a - b;
  if (const auto constant = difference.constant()) return *constant < 0 ? -1 : *constant > 0 ? 1 : 0;
  if (IsNonNegative(a) && b.constant().value_or(0) < 0) return 1;
  if (IsNonNegative(b) && a.constant().value_or(0) < 0) return -1;
  return std::nullopt;
}

std::optional<Dim> Quotient(const Dim& a, const Dim& b) {
  const auto whole = a.constant(), by = b.constant();
  if (by.value_or(0) <= 0) return std::nullopt;
  if (whole) return Dim(*whole / *by);
  return IsNonNegative(a) ? std::optional(Dim::FloorDiv(a, b)) : std::nullopt;
}

// `fmod` and the sign of the remainder differ only below 0.
std::optional<Dim> Remainder(const Dim& a, const Dim& b) {
  const auto whole = a.constant(), by = b.constant();
  if (!whole || *whole < 0 || by.value_or(0) <= 0) return std::nullopt;
  return Dim(*whole % *by);
}

std::optional<Dim> Truth(std::optional<int> order, bool below, bool same, bool above) {
  if (!order) {
    if (below == same && same == above) return Dim(same ? 1 : 0);
    return std::nullopt;
  }
  const bool holds = *order < 0 ? below : *order == 0 ? same : above;
  return Dim(holds ? 1 : 0);
}

std::optional<Dim> Magnitude(const Dim& a) {
  if (const auto value = a.constant(); value && *value < 0 && *value != INT64_MIN) return Dim(-*value);
  return IsNonNegative(a) ? std::optional(a) : std::nullopt;
}

std::optional<Dim> Negated(const Dim& a) {
  const auto value = a.constant();
  return value ? std::optional(Dim(*value == 0 ? 1 : 0)) : std::nullopt;
}

std::optional<Dim> Both(const Dim& a, const Dim& b, int64_t decides) {
  const auto x = a.constant(), y = b.constant();
  if ((x && (*x != 0) == (decides != 0)) || (y && (*y != 0) == (decides != 0))) return Dim(decides);
  return x && y ? std::optional(Dim(1 - decides)) : std::nullopt;
}

std::optional<Dim> Binary(std::string_view op, const Dim& a, const Dim& b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Mul") return a * b;
  if (op == "Div") return Quotient(a, b);
  if (op == "Mod") return Remainder(a, b);
  if (op == "And") return Both(a, b, 0);
  if (op == "Or") return Both(a, b, 1);
  const auto order = OrderOf(a, b);
  if (op == "Min") return order ? std::optional(*order <= 0 ? a : b) : std::nullopt;
  if (op == "Max") return order ? std::optional(*order >= 0 ? a : b) : std::nullopt;
  if (op == "Equal") return Truth(order, false, true, false);
  if (op == "Less") return Truth(order, true, false, false);
  if (op == "LessOrEqual") return Truth(order, true, true, false);
  if (op == "Greater") return Truth(order, false, false, true);
  if (op == "GreaterOrEqual") return Truth(order, false, true, true);
  return std::nullopt;
}

std::optional<Dim> Chosen(const Dim& condition, const Dim& a, const Dim& b) {
  if (const auto known = condition.constant()) return *known != 0 ? a : b;
  return a == b ? std::optional(a) : std::nullopt;
}

constexpr std::string_view kBinaries[] = {"Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
                                          "Min", "Mod", "Mul", "Or",    "Sub"};

bool IsElementwise(std::string_view op, size_t inputs) {
  if (op == "Where") return inputs == 3;
  if (op == "Not" || op == "Neg" || op == "Abs" || op == "Sign") return inputs == 1;
  if (op == "Clip") return inputs >= 1 && inputs <= 3;
  if ((op == "Min" || op == "Max") && inputs >= 1) return true;
  return inputs == 2 && std::find(std::begin(kBinaries), std::end(kBinaries), op) != std::end(kBinaries);
}

bool AreNumbers(const Content& content) {
  return std::all_of(content.begin(), content.end(), [](const Dim& each) { return each.is_constant(); });
}

bool IsFollowed(const Known& known) {
  return (known.dtype == WF_I64 || known.dtype == WF_I32 || known.dtype == WF_BOOL) && known.dim.size() <= 1;
}

std::optional<Dim> SignOf(const Dim& a) {
  const auto order = OrderOf(a, Dim(0));
  return order ? std::optional(Dim(*order)) : std::nullopt;
}

std::optional<Dim> Clipped(const NodeContext& node, std::span<const Dim> in) {
  std::optional<Dim> result = in[0];
  if (node.has_in(1)) result = Binary("Max", *result, in[1]);
  return result && node.has_in(2) ? Binary("Min", *result, in[2]) : result;
}

std::optional<Dim> Combined(std::string_view op, std::span<const Dim> in) {
  if (op == "Where") return Chosen(in[0], in[1], in[2]);
  if (op == "Not") return Negated(in[0]);
  if (op == "Neg") return Dim(0) - in[0];
  if (op == "Abs") return Magnitude(in[0]);
  if (op == "Sign") return SignOf(in[0]);
  std::optional<Dim> result = in[0];
  for (size_t i = 1; result && i < in.size(); ++i) result = Binary(op, *result, in[i]);
  return result;
}

// All of a vector taken together.
std::optional<Dim> Reduced(std::string_view op, const Content& content) {
  if (op != "ReduceProd" && op != "ReduceSum") {
    if ((op != "ReduceMax" && op != "ReduceMin") || content.empty()) return std::nullopt;
    std::optional<Dim> result = content[0];
    for (size_t i = 1; result && i < content.size(); ++i) result = Binary(op == "ReduceMax" ? "Max" : "Min", *result, content[i]);
    return result;
  }
  Dim result(op == "ReduceProd" ? 1 : 0);
  for (const Dim& each : content) result = op == "ReduceProd" ? result * each : result + each;
  return result;
}

std::optional<Content> ReducedContent(const NodeContext& node, const Known& out) {
  const std::string_view op = OpName(node.node.op);
  if (!op.starts_with("Reduce") || !node.in(0).content || node.rank(0) != 1) return std::nullopt;
  if (!node.follows_all && UnusualWeight(*node.in(0).content) > 0) return std::nullopt;
  const bool all = out.dim.empty() || (node.node.Int("keepdims", 1) != 0 && node.node.Int("noop_with_empty_axes", 0) == 0);
  const auto result = all ? Reduced(op, *node.in(0).content) : std::nullopt;
  return result ? std::optional(Content{*result}) : std::nullopt;
}

}  // namespace

std::optional<std::vector<Dim>> ElementwiseContent(NodeContext& node) {
  const std::string_view op = OpName(node.node.op);
  const Known& out = node.out(0);
  if (!IsFollowed(out)) return std::nullopt;
  if (!IsElementwise(op, node.node.in.size())) return node.has_in(0) ? ReducedContent(node, out) : std::nullopt;
  const auto count = Product(out.dim).constant();
  if (!count || *count > kMaxContent) return std::nullopt;
  const bool is_long = *count > static_cast<int64_t>(Followed::kShort);
  bool any = false;
  const auto is_absent = [&](size_t i) { return op == "Clip" && !node.has_in(i); };
  for (size_t i = 0; i < node.node.in.size(); ++i) {
    if (is_absent(i)) continue;
    if (!node.has_in(i) || !IsFollowed(node.in(i))) return std::nullopt;
    const auto& content = node.in(i).content;
    if (content && content->size() != 1 && static_cast<int64_t>(content->size()) != *count) return std::nullopt;
    if (!node.follows_all && (is_long ? !content || !AreNumbers(*content) : content && UnusualWeight(*content) > 0)) return std::nullopt;
    any = any || content;
  }
  if (!any) return std::nullopt;
  Content result, elements(node.node.in.size());
  result.reserve(static_cast<size_t>(*count));
  for (size_t at = 0; at < static_cast<size_t>(*count); ++at) {
    for (size_t i = 0; i < elements.size(); ++i) {
      if (is_absent(i)) continue;
      const auto& content = node.in(i).content;
      elements[i] = content ? (*content)[content->size() == 1 ? 0 : at] : node.unknown.Next();
    }
    auto combined = op == "Clip" ? Clipped(node, elements) : Combined(op, elements);
    result.push_back(combined ? *std::move(combined) : node.unknown.Next());
  }
  return result;
}

}  // namespace wf::onnx
