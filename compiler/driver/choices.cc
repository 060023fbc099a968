#include "compiler/driver/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include "compiler/diag/shorten.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/help.h"
#include "compiler/sema/model_workflow.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/walk.h"
#include "runtime/base/error_codes.h"

namespace wf::driver {
namespace {

using sema::Builtin;
using sema::Dim;
using sema::DimCheck;
using sema::Expr;
using source::Span;

struct Remaining {
  Span span;
  std::string text;
  std::vector<std::pair<std::string, Span>> origins;  // of the symbols in it
  auto Place() const { return std::tuple(span.file, span.begin, span.end, text); }
};

Dim ProductOf(const std::vector<Dim>& dims) {
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

bool HoldsAny(const std::vector<Dim>& dims) { return std::any_of(dims.begin(), dims.end(), sema::IsAny); }

// "`n` of `add` is {0} and {1}" with the dimensions in place of their values. A value of any length is simply what is wanted.
std::string TextOf(const DimCheck& check) {
  std::string text = check.message;
  for (const auto& [hole, dim] : {std::pair("{0}", &check.left), std::pair("{1}", &check.right)}) {
    if (const size_t at = text.find(hole); at != std::string::npos) text.replace(at, 3, "`" + dim->ToString() + "`");
  }
  constexpr std::string_view kAnyWanted = "`_`, wanted ";
  if (const size_t at = text.find(kAnyWanted); at != std::string::npos) text.erase(at, kAnyWanted.size());
  for (const std::string_view fails : {", which no `", ", and no `"}) {  // of a failure; here it is what has to hold
    if (const size_t at = text.find(fails); at != std::string::npos) text.replace(at + fails.size() - 4, 2, "some");
  }
  const std::string again = " (`" + check.left.ToString() + "`)";  // what is wanted, as it is written
  if (text.ends_with(again)) text.erase(text.size() - again.size());
  return text;
}

// The checks in an expression and below it; chains of operators are deep.
class Finder {
 public:
  void Add(const sema::ExprPtr& expr) {
    if (expr) open_.push_back(expr.get());
  }
  void Add(const std::vector<DimCheck>& checks, const Span& span) {
    for (const DimCheck& check : checks) {
      if (check.is_held) continue;
      const auto help = sema::HelpWithDivision(check.left, check.right);
      found_.push_back({span, TextOf(check) + (help ? "\n  " + *help : ""), check.origins});
    }
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
      found_.push_back({expr.span, "the tensors that are stacked have one shape", {}});
    }
    if (static_cast<Builtin>(expr.index) != Builtin::kReshape) return;
    const Dim found = ProductOf(of->dims), wanted = ProductOf(expr.type->dims);
    const std::string text = fmt::format("`{}` elements take a shape of `{}`", found.ToString(), wanted.ToString());
    if (found != wanted) found_.push_back({expr.span, text, {}});
  }

  std::vector<const Expr*> open_;
  std::vector<Remaining> found_;
};

std::vector<Remaining> ChecksOfDimensions(const sema::Program& program) {
  Finder finder;
  for (const sema::Function& function : program.functions) finder.Add(function.body);
  for (const sema::Workflow& workflow : program.workflows) {
    finder.Add(workflow.param_checks, workflow.span);
    finder.Add(workflow.body);
  }
  for (const sema::Test& test : program.tests) finder.Add(test.workflow.body);
  return finder.Find();
}

// What an operation checks, said of the text that it stands for, which may be a call of what holds it; empty: nothing, or a dimension.
std::string_view CheckOf(const ir::Op& op) {
  const std::string_view index = op.place.is_within ? "an index in `{}` lies inside what it indexes" : "`{}` lies inside what it indexes";
  if (op.kind == ir::OpKind::kCheckIndex) return index;
  if (op.kind == ir::OpKind::kCheckDivisor) return op.place.is_within ? "a divisor in `{}` is not 0" : "`{}` is not 0";
  if (op.kind != ir::OpKind::kStickyIf && op.kind != ir::OpKind::kFailIf) return {};
  switch (static_cast<int32_t>(op.imm)) {
    case code::kIndex:
      return index;
    case code::kZip:
      return "what `{}` goes through is of one length";
    case code::kEmpty:
      return "`{}` goes through at least one element";
    default:
      return {};
  }
}

std::vector<Remaining> ChecksOfValues(const ir::Program& program, const source::SourceMap& sources) {
  std::vector<Remaining> found;
  for (const ir::Task& task : program.tasks) {
    for (const ir::Block& block : task.body.blocks) {
      for (const ir::ValueId id : block.ops) {
        const ir::Op& op = task.body[id];
        const std::string_view text = CheckOf(op);
        if (text.empty() || op.place.span.file == source::FileId::kNone) continue;
        found.push_back({op.place.span, fmt::format(fmt::runtime(text), diag::FirstLine(sources.Text(op.place.span))), {}});
      }
    }
  }
  return found;
}

std::string PlaceText(const Span& span, const source::SourceMap& sources) {
  const source::Position at = sources.ShownPosition(span.file, span.begin);
  return fmt::format("{}:{}:{}", sources.name(span.file), at.line, at.column);
}

}  // namespace

std::string ChoicesText(const sema::Program& program, const ir::Program* built, const source::SourceMap& sources) {
  std::string text;
  for (const sema::Model& model : program.models)
    text += fmt::format("model `{}`, batch axis: {}\n", NameIn(program, model), model.batch_reason);
  std::vector<Remaining> all = ChecksOfDimensions(program);
  if (built != nullptr) std::ranges::move(ChecksOfValues(*built, sources), std::back_inserter(all));
  std::ranges::stable_sort(all, {}, &Remaining::Place);
  const auto repeats = std::ranges::unique(all, {}, &Remaining::Place);
  all.erase(repeats.begin(), repeats.end());
  for (const Remaining& one : all) {
    text += fmt::format("{}: checked when it runs: {}\n", PlaceText(one.span, sources), one.text);
    for (const auto& [symbol, span] : one.origins) {
      if (span.file != source::FileId::kNone && symbol != sema::kAnySymbol)
        text += fmt::format("  `{}` comes from {}\n", symbol, PlaceText(span, sources));
    }
  }
  return text;
}

}  // namespace wf::driver
