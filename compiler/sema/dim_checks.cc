// Equalities of dimensions that are left to be checked when it runs, and those that hold behind them.

#include <algorithm>

#include "compiler/sema/dim_bounds.h"
#include "compiler/sema/dims.h"

namespace wf::sema {
namespace {

// Whether all of its arguments are computed whenever it is.
bool NeedsArguments(ExprKind kind) {
  switch (kind) {
    case ExprKind::kField:
    case ExprKind::kRecord:
    case ExprKind::kSome:
    case ExprKind::kConvert:
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kBuiltin:
    case ExprKind::kBlock:
    case ExprKind::kIndex:
    case ExprKind::kCallFn:
    case ExprKind::kCallModel:
    case ExprKind::kCallExtern:
    case ExprKind::kCallRemote:
    case ExprKind::kCallWorkflow:
      return true;
    default:
      return false;
  }
}

}  // namespace

Equalities HeldBy(const Body& body, const Expr& value) {
  constexpr size_t kMostVisited = 64, kMost = 16;  // chains of operators and of nodes are long; what is held by few is enough
  Equalities held;
  const auto add = [&held](const Dim& left, const Dim& right) {
    if (held.size() < kMost && !Holds(held, left, right)) held.emplace_back(left, right);
  };
  std::vector<const Expr*> open = {&value};
  for (size_t visited = 0; !open.empty() && visited < kMostVisited; ++visited) {
    const Expr& expr = *open.back();
    open.pop_back();
    for (const DimCheck& check : expr.checks) {
      const bool is_own = check.is_count && &expr == &value;  // it counts the extents that its type is to have
      if (!check.is_least && !is_own) add(check.left, check.right);
    }
    if (expr.kind == ExprKind::kLocal) {
      for (const auto& [left, right] : body.infos[expr.local].held) add(left, right);
    }
    if (!NeedsArguments(expr.kind)) continue;
    for (const ExprPtr& arg : expr.args) open.push_back(arg.get());
  }
  return held;
}

bool Holds(const Equalities& held, const Dim& left, const Dim& right) {
  return std::any_of(held.begin(), held.end(), [&](const auto& both) {
    return (both.first == left && both.second == right) || (both.first == right && both.second == left);
  });
}

DimCheck CheckOf(const Body& body, Dim left, Dim right, std::string message) {
  DimCheck check{std::move(left), std::move(right), std::move(message)};
  for (const Dim* dim : {&check.left, &check.right}) {
    for (const std::string& symbol : dim->Symbols()) {
      const auto origin = body.symbols.find(symbol);
      if (origin == body.symbols.end()) continue;
      const std::pair from(symbol.substr(0, symbol.find('#')), origin->second);
      if (std::find(check.origins.begin(), check.origins.end(), from) == check.origins.end()) check.origins.push_back(from);
    }
  }
  return check;
}

std::optional<DimCheck> LeastCheck(const Body& body, const Dim::Linear& stated, const Dim& found, std::string message) {
  const bool falls = stated.mul < 0;
  if ((!falls && stated.add <= 0) || found.is_constant()) return std::nullopt;
  if (const auto bounds = BoundsOf(body, found); bounds && !falls && bounds->least >= stated.add) return std::nullopt;
  if (const size_t hole = message.find("{1}"); falls && hole != std::string::npos) message.replace(hole, 3, "{0}");
  const Dim bound(stated.add);
  DimCheck check = falls ? CheckOf(body, found, bound, std::move(message)) : CheckOf(body, bound, found, std::move(message));
  check.is_least = true;
  return check;
}

}  // namespace wf::sema
