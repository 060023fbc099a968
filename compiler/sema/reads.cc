#include "compiler/sema/reads.h"

#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

// A stack of its own: chains of operators are deep.
class Collector {
 public:
  explicit Collector(Reads& reads) : reads_(reads) {}
  void Run(const Expr& root) {
    open_.push_back(&root);
    while (!open_.empty()) {
      const Expr& expr = *open_.back();
      open_.pop_back();
      Visit(expr);
    }
  }

 private:
  void Add(const ExprPtr& expr) {
    if (expr) open_.push_back(expr.get());
  }
  void Add(const std::vector<ExprPtr>& exprs) {
    for (const ExprPtr& expr : exprs) Add(expr);
  }
  void Add(const Dim& dim) {
    for (std::string& symbol : dim.Symbols()) reads_.symbols.insert(std::move(symbol));
  }
  void Visit(const Expr& expr) {
    if (expr.kind == ExprKind::kLocal) reads_.locals.insert(expr.local);
    if (expr.kind == ExprKind::kDimValue) Add(expr.dim);
    ForEachDim(expr.type, [&](const Dim& dim) { Add(dim); });
    for (const auto& [symbol, dim] : expr.symbols) Add(dim);
    for (const DimCheck& check : expr.checks) {
      Add(check.left);
      Add(check.right);
    }
    Add(expr.args);
    Add(expr.extents);
    for (const Subscript& subscript : expr.subscripts) {
      Add(subscript.first);
      Add(subscript.last);
    }
    if (expr.loop) Add(expr.loop->sources);
    Add(expr.condition);
    for (const BlockStep& step : expr.steps) {
      Add(step.value);
      Add(step.message);
    }
  }

  Reads& reads_;
  std::vector<const Expr*> open_;
};

}  // namespace

void CollectReads(const Expr& expr, Reads& reads) { Collector(reads).Run(expr); }

}  // namespace wf::sema
