#include "compiler/driver/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "compiler/sema/builtins.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/walk.h"

namespace wf::driver {
namespace {

using sema::Builtin;
using sema::Dim;
using sema::DimCheck;
using sema::Expr;
using source::Span;

struct Remaining {
  Span span;
  DimCheck check;
};

Dim ProductOf(const std::vector<Dim>& dims) {
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

bool HoldsAny(const std::vector<Dim>& dims) { return std::any_of(dims.begin(), dims.end(), sema::IsAny); }

// The checks in an expression and below it; chains of operators are deep.
class Finder {
 public:
  void Add(const sema::ExprPtr& expr) {
    if (expr) open_.push_back(expr.get());
  }
  void Add(const std::vector<DimCheck>& checks, const Span& span) {
    for (const DimCheck& check : checks) found_.push_back({span, check});
  }
  void Add(const std::vector<sema::Stmt>& body) {
    for (const sema::Stmt& stmt : body) {
      Add(stmt.value);
      Add(stmt.message);
      Add(stmt.fallback);
      for (const auto* list : {&stmt.results, &stmt.conditions}) {
        for (const sema::ExprPtr& part : *list) Add(part);
      }
    }
  }
  std::vector<Remaining> Find() {
    while (!open_.empty()) {
      const Expr& expr = *open_.back();
      open_.pop_back();
      Expand(expr);
    }
    const auto place = [](const Remaining& one) { return std::tuple(one.span.file, one.span.begin, one.check.message); };
    std::sort(found_.begin(), found_.end(), [&](const Remaining& a, const Remaining& b) { return place(a) < place(b); });
    return std::move(found_);
  }

 private:
  void Expand(const Expr& expr) {
    Add(expr.checks, expr.span);
    if (expr.kind == sema::ExprKind::kBuiltin) AddOfShape(expr);
    sema::ForEachChild(expr, [&](const Expr& child) { open_.push_back(&child); });
  }
  // Of what yields shapes that no signature says.
  void AddOfShape(const Expr& expr) {
    const sema::TypeRef of = expr.args.empty() ? nullptr : expr.args[0]->type;
    if (static_cast<Builtin>(expr.index) == Builtin::kStack && HoldsAny(of->element->dims)) {
      found_.push_back({expr.span, {Dim(0), Dim(0), "the tensors that are stacked have one shape"}});
    }
    if (static_cast<Builtin>(expr.index) != Builtin::kReshape) return;
    Dim found = ProductOf(of->dims), wanted = ProductOf(expr.type->dims);
    if (found != wanted) found_.push_back({expr.span, {std::move(found), std::move(wanted), "{0} elements take a shape of {1}"}});
  }

  std::vector<const Expr*> open_;
  std::vector<Remaining> found_;
};

std::vector<Remaining> RemainingChecks(const sema::Program& program) {
  Finder finder;
  for (const sema::Function& function : program.functions) finder.Add(function.body);
  for (const sema::Workflow& workflow : program.workflows) {
    finder.Add(workflow.param_checks, workflow.span);
    finder.Add(workflow.body);
  }
  for (const sema::Test& test : program.tests) finder.Add(test.workflow.body);
  return finder.Find();
}

std::string PlaceText(const Span& span, const source::SourceMap& sources) {
  const source::Position at = sources.PositionOf(span.file, span.begin);
  return fmt::format("{}:{}:{}", sources.name(span.file), at.line, at.column);
}

// "`n` of `add` is {0} and {1}" with the dimensions in place of their values.
std::string Named(const DimCheck& check) {
  std::string text = check.message;
  for (const auto& [hole, dim] : {std::pair("{0}", &check.left), std::pair("{1}", &check.right)}) {
    if (const size_t at = text.find(hole); at != std::string::npos) text.replace(at, 3, "`" + dim->ToString() + "`");
  }
  return text;
}

}  // namespace

std::string ChoicesText(const sema::Program& program, const source::SourceMap& sources) {
  std::string text;
  for (const sema::Model& model : program.models) text += fmt::format("model `{}`, batch axis: {}\n", model.name, model.batch_reason);
  for (const Remaining& one : RemainingChecks(program)) {
    text += fmt::format("{}: checked when it runs: {}\n", PlaceText(one.span, sources), Named(one.check));
    for (const auto& [symbol, span] : one.check.origins) {
      if (span.file != source::FileId::kNone) text += fmt::format("  `{}` comes from {}\n", symbol, PlaceText(span, sources));
    }
  }
  return text;
}

}  // namespace wf::driver
