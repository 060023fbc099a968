// Indices of tensors in `[i] => e` and `sum[i](e)` that certainly leave their axis: the loop always runs, `i` takes all of its values, and
// one of them is outside. What stands in an arm, behind `&&`, `||` or `??`, in a fallback or in a loop that may have no element may never
// run, and is left to run time, as is what only some values of a symbol lead to.

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/sema/check_expr.h"

namespace wf::sema {
namespace {

using Wide = __int128;
constexpr Wide kMost = Wide{1} << 62;

// constant + a * i + b * j, where each index takes every value from 0 on, whatever the others are.
struct Affine {
  Wide constant = 0;
  std::map<LocalId, Wide> factors;
};

class Reach {
 public:
  Reach(Body& body, const std::map<LocalId, const Expr*>& lets) : body_(body), unread_(lets) {}

  // Looks at what is evaluated whenever `expr` is.
  void Look(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kIndex:
        for (size_t axis = 0; axis < expr.subscripts.size(); ++axis) LookAt(expr, axis);
        return LookAtAll(expr.args);
      case ExprKind::kBuild:
      case ExprKind::kReduce:
        return LookInside(expr);
      case ExprKind::kBlock:
        for (const BlockStep& step : expr.steps) {
          Look(*step.value);
          if (const auto value = step.is_let ? AffineOf(*step.value) : std::nullopt) lets_[step.local] = *value;
        }
        return LookAtAll(expr.args);
      case ExprKind::kAnd:
      case ExprKind::kOr:
      case ExprKind::kCoalesce:
      case ExprKind::kIf:
        return Look(*expr.args[0]);
      case ExprKind::kFold:
        Look(*expr.args[0]);
        return LookAtAll(expr.loop->sources);
      case ExprKind::kListLoop:
      case ExprKind::kEach:
        return LookAtAll(expr.loop->sources);
      case ExprKind::kFail:
        return;
      case ExprKind::kLocal:
        if (const auto let = unread_.extract(expr.local)) Look(*let.mapped());
        return;
      case ExprKind::kScalar:
      case ExprKind::kText:
      case ExprKind::kNone:
      case ExprKind::kSome:
      case ExprKind::kDimValue:
      case ExprKind::kConst:
      case ExprKind::kField:
      case ExprKind::kRecord:
      case ExprKind::kList:
      case ExprKind::kUnary:
      case ExprKind::kBinary:
      case ExprKind::kConvert:
      case ExprKind::kListIndex:
      case ExprKind::kMapIndex:
      case ExprKind::kCallFn:
      case ExprKind::kCallModel:
      case ExprKind::kCallWorkflow:
      case ExprKind::kCallExtern:
      case ExprKind::kCallRemote:
      case ExprKind::kHas:
      case ExprKind::kUnwrap:
      case ExprKind::kBuiltin:
      case ExprKind::kMeta:
        return LookAtAll(expr.args);
    }
  }
  bool found() const { return found_; }

 private:
  void LookAtAll(const std::vector<ExprPtr>& exprs) {
    for (const ExprPtr& expr : exprs) Look(*expr);
  }
  void LookInside(const Expr& loop) {
    LookAtAll(loop.extents);
    for (size_t i = 0; i < loop.extents.size(); ++i) {
      const auto extent = ConstantOf(*loop.extents[i]);
      if (!extent || *extent < 1) return;  // it may be 0, where nothing is evaluated
      lasts_[loop.index_locals[i]] = *extent - 1;
    }
    LookAtAll(loop.args);
  }
  void LookAt(const Expr& index, size_t axis) {
    const Subscript& subscript = index.subscripts[axis];
    if (subscript.first) Look(*subscript.first);
    if (subscript.last) Look(*subscript.last);
    const auto extent = index.args[0]->type->dims[axis].constant();
    const auto at = subscript.is_slice || !extent ? std::nullopt : AffineOf(*subscript.first);
    if (!at || at->factors.empty()) return;
    Wide least = at->constant, most = least;
    for (const auto& [local, factor] : at->factors) (factor < 0 ? least : most) += factor * lasts_.at(local);
    if (least >= 0 && most < *extent) return;
    found_ = true;
    const Span& span = subscript.first->span;
    auto builder = body_.env.Report(span, kIndexOutOfRange, {static_cast<int64_t>(least < 0 ? least : most), *extent});
    builder.Help("`" + std::string(body_.env.input.sources.Text(span)) + "` goes from " + std::to_string(static_cast<int64_t>(least)) +
                 " to " + std::to_string(static_cast<int64_t>(most)));
  }
  std::optional<int64_t> ConstantOf(const Expr& expr) const {
    const auto dim = AsDim(body_, expr);
    return dim ? dim->constant() : std::nullopt;
  }
  std::optional<Affine> AffineOf(const Expr& expr) const {
    if (expr.type->kind != TypeKind::kScalar || expr.type->dtype != DType::kI64) return {};
    if (const auto constant = ConstantOf(expr)) return Bounded({*constant, {}});
    if (expr.kind == ExprKind::kLocal && lasts_.contains(expr.local)) return Affine{0, {{expr.local, 1}}};
    if (const auto let = lets_.find(expr.local); expr.kind == ExprKind::kLocal && let != lets_.end()) return let->second;
    if (expr.kind != ExprKind::kBinary) return {};
    auto left = AffineOf(*expr.args[0]);
    const auto right = left ? AffineOf(*expr.args[1]) : std::nullopt;
    if (!right) return {};
    if (expr.binary == BinaryOp::kAdd) return Sum(std::move(*left), *right, 1);
    if (expr.binary == BinaryOp::kSub) return Sum(std::move(*left), *right, -1);
    if (expr.binary != BinaryOp::kMul || (!left->factors.empty() && !right->factors.empty())) return {};
    return left->factors.empty() ? Sum({}, *right, left->constant) : Sum({}, *left, right->constant);
  }
  std::optional<Affine> Sum(Affine left, const Affine& right, Wide times) const {
    left.constant += times * right.constant;
    for (const auto& [local, factor] : right.factors) left.factors[local] += times * factor;
    std::erase_if(left.factors, [](const auto& entry) { return entry.second == 0; });
    return Bounded(std::move(left));
  }
  // Of what wraps nothing is known.
  std::optional<Affine> Bounded(Affine value) const {
    Wide size = value.constant < 0 ? -value.constant : value.constant;
    for (const auto& [local, factor] : value.factors) {
      if (factor > kMost || factor < -kMost) return {};
      size += (factor < 0 ? -factor : factor) * lasts_.at(local);
    }
    return size < kMost ? std::optional(std::move(value)) : std::nullopt;
  }

  Body& body_;
  std::map<LocalId, const Expr*> unread_;  // lets of a workflow, which are evaluated where they are read
  std::map<LocalId, int64_t> lasts_;
  std::map<LocalId, Affine> lets_;
  bool found_ = false;
};

}  // namespace

bool ReportReach(Body& body, const Expr& expr) {
  if (body.module.is_std) return false;
  Reach reach(body, {});
  reach.Look(expr);
  return reach.found();
}

bool ReportReach(Body& body, const Workflow& workflow) {
  std::map<LocalId, const Expr*> lets;
  for (const Stmt& stmt : workflow.body) {
    if (stmt.kind == StmtKind::kLet && stmt.block == 0) lets.emplace(stmt.local, stmt.value.get());
  }
  Reach reach(body, lets);
  for (const Stmt& stmt : workflow.body) {
    if (stmt.kind == StmtKind::kIf || stmt.kind == StmtKind::kFail) break;  // what follows may not be reached
    if (stmt.kind == StmtKind::kLet || stmt.kind == StmtKind::kAnnotate || stmt.fallback != nullptr) continue;
    if (stmt.value) reach.Look(*stmt.value);
    for (const ExprPtr& result : stmt.results) reach.Look(*result);
  }
  return reach.found();
}

}  // namespace wf::sema
