#pragma once

#include <vector>

#include "compiler/sema/typed.h"

// Over checked expressions.
namespace wf::sema {

template <typename F>
void ForEachChild(const Expr& expr, const F& f) {
  for (const ExprPtr& arg : expr.args) f(*arg);
  for (const ExprPtr& extent : expr.extents) f(*extent);
  for (const Subscript& subscript : expr.subscripts) {
    if (subscript.first) f(*subscript.first);
    if (subscript.last) f(*subscript.last);
  }
  if (expr.loop) {
    for (const ExprPtr& source : expr.loop->sources) f(*source);
  }
  if (expr.condition) f(*expr.condition);
  for (const BlockStep& step : expr.steps) {
    f(*step.value);
    if (step.message) f(*step.message);
  }
}

// The expression and all below it, in no order; a loop, since chains of operators are long.
template <typename F>
void ForEachInside(const Expr& expr, const F& f) {
  std::vector<const Expr*> pending{&expr};
  while (!pending.empty()) {
    const Expr& next = *pending.back();
    pending.pop_back();
    f(next);
    ForEachChild(next, [&](const Expr& child) { pending.push_back(&child); });
  }
}

inline std::vector<TypeRef> TypesOf(const std::vector<ExprPtr>& exprs) {
  std::vector<TypeRef> types;
  for (const ExprPtr& expr : exprs) types.push_back(expr->type);
  return types;
}

template <typename F>
void ForEachExpr(const Stmt& stmt, const F& f) {
  if (stmt.value) f(*stmt.value);
  for (const ExprPtr& condition : stmt.conditions) f(*condition);
  for (const ExprPtr& result : stmt.results) f(*result);
  if (stmt.message) f(*stmt.message);
  if (stmt.fallback) f(*stmt.fallback);
}

}  // namespace wf::sema
