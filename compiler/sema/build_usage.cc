#include "compiler/sema/build_usage.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>

#include "compiler/sema/builtins.h"
#include "compiler/sema/walk.h"

namespace wf::sema {
namespace {

// Slots are written by statements of the workflow; other locals are inside expressions.
std::unordered_map<LocalId, size_t> Definitions(const Workflow& workflow) {
  std::unordered_map<LocalId, size_t> definitions;
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    const StmtKind kind = workflow.body[i].kind;
    if (kind == StmtKind::kLet || kind == StmtKind::kNode) definitions[workflow.body[i].local] = i;
  }
  return definitions;
}

// A dimension is read of the value that brings its symbol into being.
std::unordered_map<std::string, LocalId> Symbols(const Workflow& workflow) {
  std::unordered_map<std::string, LocalId> symbols;
  for (const Stmt& stmt : workflow.body) {
    if (stmt.kind != StmtKind::kLet && stmt.kind != StmtKind::kNode) continue;
    for (const FreshSymbol& fresh : stmt.value->fresh) symbols.emplace(fresh.symbol, stmt.local);
  }
  return symbols;
}

std::set<LocalId> ReadsOf(const Expr& expr, const std::unordered_map<std::string, LocalId>& symbols) {
  std::set<LocalId> locals;
  const auto add = [&](const Dim& dim) {
    for (const std::string& symbol : dim.Symbols())
      if (const auto at = symbols.find(symbol); at != symbols.end()) locals.insert(at->second);
  };
  ForEachInside(expr, [&](const Expr& inside) {
    if (inside.kind == ExprKind::kLocal) locals.insert(inside.local);
    if (inside.kind == ExprKind::kDimValue) add(inside.dim);
    for (const DimCheck& check : inside.checks) {
      add(check.left);
      add(check.right);
    }
  });
  return locals;
}

bool IsCheap(const Expr& expr) {  // writing it again costs nothing
  switch (expr.kind) {
    case ExprKind::kScalar:
    case ExprKind::kConst:
    case ExprKind::kLocal:
    case ExprKind::kDimValue:
      return expr.checks.empty();
    case ExprKind::kField:
    case ExprKind::kConvert:
      return expr.checks.empty() && expr.type->kind == TypeKind::kScalar && IsCheap(*expr.args[0]);
    case ExprKind::kText:
      return expr.args.empty();
    case ExprKind::kBuiltin:
      return static_cast<Builtin>(expr.index) == Builtin::kLen && expr.checks.empty() && IsCheap(*expr.args[0]);
    default:
      return false;
  }
}

}  // namespace

bool MayWait(const Expr& expr) {
  bool found = false;
  ForEachInside(expr, [&](const Expr& inside) {
    constexpr ExprKind kWaiting[] = {ExprKind::kCallModel, ExprKind::kCallWorkflow, ExprKind::kCallExtern, ExprKind::kCallRemote,
                                     ExprKind::kEach};
    found = found || std::find(std::begin(kWaiting), std::end(kWaiting), inside.kind) != std::end(kWaiting);
  });
  return found;
}

size_t CountModelCalls(const Expr& expr) {
  size_t count = 0;
  ForEachInside(expr, [&](const Expr& inside) { count += inside.kind == ExprKind::kCallModel; });
  return count;
}

Usage FindUsage(const Workflow& workflow) {
  const size_t count = workflow.body.size();
  Usage usage{.reads = std::vector<std::set<LocalId>>(count),
              .is_needed = std::vector<bool>(count),
              .is_shared = std::vector<bool>(count),
              .charged = std::vector<std::optional<size_t>>(count)};
  const auto definitions = Definitions(workflow);
  const auto symbols = Symbols(workflow);
  using BodyKey = std::tuple<size_t, size_t, bool>;  // statement, which result of a return, whether it is cut
  std::vector<std::set<BodyKey>> bodies(count);      // per let: the bodies that read it
  std::vector<std::set<size_t>> readers(count);
  for (size_t i = count; i-- > 0;) {
    const Stmt& stmt = workflow.body[i];
    const bool is_value = stmt.kind == StmtKind::kLet || stmt.kind == StmtKind::kNode;
    usage.is_needed[i] = !is_value || !readers[i].empty();
    if (!usage.is_needed[i]) continue;
    usage.is_shared[i] = stmt.kind == StmtKind::kLet && bodies[i].size() > 1 && !IsCheap(*stmt.value);
    if (stmt.kind == StmtKind::kLet) {
      std::set<std::optional<size_t>> nodes;
      for (const size_t reader : readers[i]) nodes.insert(workflow.body[reader].kind == StmtKind::kNode ? reader : usage.charged[reader]);
      if (nodes.size() == 1) usage.charged[i] = *nodes.begin();
    }
    size_t part = 0;
    ForEachExpr(stmt, [&](const Expr& expr) {
      const bool is_cut = MayWait(expr) || stmt.fallback != nullptr || stmt.policy.timeout_ns > 0;
      for (const LocalId local : ReadsOf(expr, symbols)) {
        usage.reads[i].insert(local);
        const auto definition = definitions.find(local);
        if (definition == definitions.end() || definition->second >= i) continue;
        readers[definition->second].insert(i);
        std::set<BodyKey>& users = bodies[definition->second];
        if (stmt.kind == StmtKind::kLet && !usage.is_shared[i]) {
          users.insert(bodies[i].begin(), bodies[i].end());
        } else {
          users.insert({i, part, false});
          if (is_cut) users.insert({i, part, true});
        }
      }
      if (stmt.kind == StmtKind::kReturn) ++part;
    });
  }
  return usage;
}

}  // namespace wf::sema
