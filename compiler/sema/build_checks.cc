#include "compiler/sema/build_checks.h"

#include <algorithm>

#include "compiler/sema/walk.h"

namespace wf::sema {
namespace {

bool Mentions(const Dim& dim, const std::string& symbol) {
  const std::vector<std::string> symbols = dim.Symbols();
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

// That an operand brings: the value has it, too, where the checks have held.
bool IsOfOperand(const Expr& expr, const std::string& symbol) {
  bool found = false;
  const auto look = [&](const Expr& inside) {
    found =
        found || std::any_of(inside.fresh.begin(), inside.fresh.end(), [&](const FreshSymbol& fresh) { return fresh.symbol == symbol; });
  };
  ForEachChild(expr, [&](const Expr& operand) { ForEachInside(operand, look); });
  return found;
}

}  // namespace

std::vector<bool> ChecksOfResult(const Expr& expr) {
  std::vector<bool> of_result;
  for (const DimCheck& check : expr.checks) {
    of_result.push_back(std::any_of(expr.fresh.begin(), expr.fresh.end(), [&](const FreshSymbol& fresh) {
      return (Mentions(check.left, fresh.symbol) || Mentions(check.right, fresh.symbol)) && !IsOfOperand(expr, fresh.symbol);
    }));
  }
  return of_result;
}

bool HasChecksOfArgs(const Expr& call) {
  const std::vector<bool> of_result = ChecksOfResult(call);
  return std::find(of_result.begin(), of_result.end(), false) != of_result.end();
}

bool IsCheckedBefore(const Expr& cut) {
  return cut.kind == ExprKind::kCallModel || cut.kind == ExprKind::kCallRemote || cut.kind == ExprKind::kCallWorkflow;
}

bool IsCheckedWhereRead(const Expr& cut) {
  if (cut.kind == ExprKind::kCallExtern) return false;  // its own task does
  if (!IsCheckedBefore(cut)) return !cut.checks.empty();
  const std::vector<bool> of_result = ChecksOfResult(cut);
  return std::find(of_result.begin(), of_result.end(), true) != of_result.end();
}

}  // namespace wf::sema
