// Errors that a workflow gives, metadata that it reads and writes.

#include <map>
#include <set>
#include <vector>

#include "compiler/interface/describe.h"
#include "compiler/sema/walk.h"

namespace wf::interface {
namespace {

using sema::Expr;
using sema::ExprKind;
using sema::ExprPtr;
using sema::Stmt;
using sema::StmtKind;

class Listener {
 public:
  explicit Listener(const sema::Program& program) : program_(program), functions_(program.functions.size()) {}

  void Hear(const sema::Workflow& workflow) {
    for (const Stmt& stmt : workflow.body) {
      if (stmt.kind == StmtKind::kRequire || stmt.kind == StmtKind::kFail) errors_.insert(stmt.code);
      if (stmt.kind == StmtKind::kAnnotate) annotations_.insert(stmt.message->text);
      for (const ExprPtr& condition : stmt.conditions) Hear(condition);
      for (const ExprPtr& result : stmt.results) Hear(result);
      Hear(stmt.message);
      if (stmt.fallback) {
        HearCaught(*stmt.value);
      } else {
        Hear(stmt.value);
      }
      Hear(stmt.fallback);
    }
  }

  Spoken Finish() const {
    Spoken spoken{.errors = {errors_.begin(), errors_.end()}, .meta = {}, .annotations = {annotations_.begin(), annotations_.end()}};
    for (const auto& [key, expr] : meta_) spoken.meta.push_back(expr);
    return spoken;
  }

 private:
  // A fallback stands for every failure of the expression.
  void HearCaught(const Expr& expr) {
    const std::set<int32_t> before = errors_;
    Hear(expr);
    errors_ = before;
  }

  void Hear(const ExprPtr& expr) {
    if (expr) Hear(*expr);
  }

  void Hear(const Expr& expr) {
    if (expr.kind == ExprKind::kFail) errors_.insert(expr.code);
    if (expr.kind == ExprKind::kMeta) meta_.try_emplace(expr.args[0]->text, &expr);
    if (expr.kind == ExprKind::kCallWorkflow) Hear(program_.workflows[expr.index]);
    if (expr.kind == ExprKind::kCallFn) {
      const std::set<int32_t>& errors = ErrorsOf(expr.index);
      errors_.insert(errors.begin(), errors.end());
    }
    for (const sema::BlockStep& step : expr.steps) {
      if (!step.is_let) errors_.insert(step.code);
    }
    const Expr* caught = expr.kind == ExprKind::kEach && expr.args.size() > 1 ? expr.args[0].get() : nullptr;
    sema::ForEachChild(expr, [&](const Expr& child) {
      if (&child == caught) {
        HearCaught(child);
      } else {
        Hear(child);
      }
    });
  }

  // Functions are not recursive, and neither read metadata nor call workflows.
  const std::set<int32_t>& ErrorsOf(uint32_t function) {
    if (!functions_[function]) {
      Listener inside(program_);
      inside.functions_ = std::move(functions_);
      inside.Hear(program_.functions[function].body);
      functions_ = std::move(inside.functions_);
      functions_[function] = std::move(inside.errors_);
    }
    return *functions_[function];
  }

  const sema::Program& program_;
  std::set<int32_t> errors_;
  std::map<std::string, const Expr*> meta_;
  std::set<std::string> annotations_;
  std::vector<std::optional<std::set<int32_t>>> functions_;
};

}  // namespace

Spoken SpokenBy(const sema::Program& program, const sema::Workflow& workflow) {
  Listener listener(program);
  listener.Hear(workflow);
  return listener.Finish();
}

}  // namespace wf::interface
