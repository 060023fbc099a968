#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
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

// Of literals and constants alone, so that a reader of the text knows its value.
inline bool IsOfConstants(const Expr& expr) {
  bool is = true;
  ForEachInside(expr, [&](const Expr& inside) {
    const bool is_operator = inside.kind == ExprKind::kUnary || inside.kind == ExprKind::kBinary || inside.kind == ExprKind::kAnd ||
                             inside.kind == ExprKind::kOr || inside.kind == ExprKind::kConvert;
    const bool is_known = inside.kind == ExprKind::kScalar || inside.kind == ExprKind::kConst || is_operator;
    is = is && is_known && inside.type->kind == TypeKind::kScalar;
  });
  return is;
}

// f for the expression and all below it, but for arms that conditions of literals and constants rule out: what stands there is as if it was
// not there. value(condition): of such a condition; nothing where it fails.
template <typename Value, typename F>
void ForEachCounted(const Expr& expr, const Value& value, const F& f) {
  const auto known = [&](const Expr& condition) { return IsOfConstants(condition) ? value(condition) : std::optional<bool>(); };
  std::vector<const Expr*> pending{&expr};
  while (!pending.empty()) {
    const Expr& next = *pending.back();
    pending.pop_back();
    f(next);
    if (next.kind == ExprKind::kIf) {
      for (size_t i = 0; i < next.args.size(); i += 2) {
        const bool is_last = i + 1 == next.args.size();
        pending.push_back(next.args[i].get());
        const std::optional<bool> holds = is_last ? std::nullopt : known(*next.args[i]);
        if (!is_last && holds != false) pending.push_back(next.args[i + 1].get());
        if (holds == true) break;
      }
    } else if ((next.kind == ExprKind::kAnd || next.kind == ExprKind::kOr) && known(*next.args[0]) == (next.kind == ExprKind::kOr)) {
      pending.push_back(next.args[0].get());
    } else {
      ForEachChild(next, [&](const Expr& child) { pending.push_back(&child); });
    }
  }
}

// f(part, its type) for each value that `expr`, of the type `type`, is put together from: elements, fields, what is chosen from. Other
// kinds make a value of their own.
template <typename F>
void ForEachPart(Expr& expr, TypeRef type, const F& f) {
  std::vector<ExprPtr>& args = expr.args;
  switch (expr.kind) {
    case ExprKind::kRecord:
      for (size_t i = 0; i < args.size(); ++i) f(args[i], type->fields[i].type);
      break;
    case ExprKind::kList:
    case ExprKind::kListLoop:
    case ExprKind::kEach:
    case ExprKind::kSome:
      for (ExprPtr& arg : args) f(arg, type->element);
      break;
    case ExprKind::kBlock:
      f(args[0], type);
      break;
    case ExprKind::kIf:
      for (size_t i = 1; i < args.size(); i += 2) f(args[i], type);
      f(args.back(), type);
      break;
    default:
      break;
  }
}

inline bool HasExtents(TypeRef type) {
  const auto holds = [](const Field& field) { return HasExtents(field.type); };
  return type->kind == TypeKind::kTensor || (type->element != nullptr && HasExtents(type->element)) ||
         std::any_of(type->fields.begin(), type->fields.end(), holds);
}

// The places of values by where they stand in the text: named arguments and members stand there in another order than where they are kept.
// Where there are tensors among them, as they are kept: the extents of one may come from those before it.
inline std::vector<size_t> TextOrder(const std::vector<ExprPtr>& exprs) {
  std::vector<size_t> order(exprs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (std::any_of(exprs.begin(), exprs.end(), [](const ExprPtr& expr) { return HasExtents(expr->type); })) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return exprs[a]->span.begin < exprs[b]->span.begin; });
  return order;
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
