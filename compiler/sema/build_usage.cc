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

// The nodes and the lets of some cost that an expression waits for, through lets that are written where they are read.
class Awaited {
 public:
  explicit Awaited(const Workflow& workflow) : workflow_(workflow), definitions_(Definitions(workflow)), symbols_(Symbols(workflow)) {}

  const std::unordered_map<LocalId, size_t>& definitions() const { return definitions_; }
  const std::unordered_map<std::string, LocalId>& symbols() const { return symbols_; }

  // Whether `expr` waits for what is not in `known`, which it is added to.
  bool Adds(const Expr& expr, std::set<LocalId>& known) const {
    bool adds = false;
    for (const LocalId local : ReadsOf(expr, symbols_)) {
      const auto at = definitions_.find(local);
      if (at == definitions_.end()) continue;
      const Stmt& stmt = workflow_.body[at->second];
      const bool is_let = stmt.kind == StmtKind::kLet;
      if (is_let && IsCheap(*stmt.value)) {
        adds = Adds(*stmt.value, known) || adds;
      } else if (known.insert(local).second) {
        adds = true;
        if (is_let) Adds(*stmt.value, known);
      }
    }
    return adds;
  }

  std::vector<size_t> Later(const Stmt& stmt) const {
    std::vector<size_t> later;
    std::set<LocalId> known;
    if (stmt.kind == StmtKind::kIf && stmt.conditions.size() > 1) {
      for (size_t i = 0; i < stmt.conditions.size(); ++i) {
        if (Adds(*stmt.conditions[i], known) && i > 0) later.push_back(i);
      }
    }
    if (stmt.kind == StmtKind::kRequire && stmt.value && stmt.message) {
      Adds(*stmt.value, known);
      if (Adds(*stmt.message, known)) later.push_back(0);
    }
    return later;
  }

 private:
  const Workflow& workflow_;
  const std::unordered_map<LocalId, size_t> definitions_;
  const std::unordered_map<std::string, LocalId> symbols_;
};

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

std::set<LocalId> SureReads(const Expr& expr) {
  std::set<LocalId> reads;
  std::vector<const Expr*> open{&expr};
  const auto add = [&](const Expr& operand) { open.push_back(&operand); };
  while (!open.empty()) {
    const Expr& next = *open.back();
    open.pop_back();
    switch (next.kind) {
      case ExprKind::kLocal:
        reads.insert(next.local);
        break;
      case ExprKind::kIf:
      case ExprKind::kAnd:
      case ExprKind::kOr:
      case ExprKind::kCoalesce:
      case ExprKind::kFold:
        add(*next.args[0]);
        break;
      case ExprKind::kListLoop:
      case ExprKind::kBuild:
      case ExprKind::kReduce:
        break;
      case ExprKind::kCallModel:
      case ExprKind::kCallWorkflow:
      case ExprKind::kCallExtern:
      case ExprKind::kCallRemote:
      case ExprKind::kEach:
        continue;
      case ExprKind::kBlock:
        for (const BlockStep& step : next.steps) add(*step.value);
        add(*next.args[0]);
        continue;
      default:
        ForEachChild(next, add);
        continue;
    }
    for (const ExprPtr& extent : next.extents) add(*extent);
    if (next.loop) {
      for (const ExprPtr& source : next.loop->sources) add(*source);
    }
  }
  return reads;
}

Usage FindUsage(const Workflow& workflow) {
  const size_t count = workflow.body.size();
  Usage usage{.reads = std::vector<std::set<LocalId>>(count),
              .is_needed = std::vector<bool>(count),
              .is_shared = std::vector<bool>(count),
              .charged = std::vector<std::optional<size_t>>(count),
              .later = std::vector<std::vector<size_t>>(count)};
  const Awaited awaited(workflow);
  const auto& definitions = awaited.definitions();
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
    usage.later[i] = awaited.Later(stmt);
    const auto begins = [&](size_t number) {
      return std::find(usage.later[i].begin(), usage.later[i].end(), number) != usage.later[i].end();
    };
    size_t part = 0, number = 0;  // the body that the expression goes into, and how many expressions were before it
    ForEachExpr(stmt, [&](const Expr& expr) {
      const bool is_first = number++ == 0;
      if (stmt.kind == StmtKind::kIf ? begins(number - 1) : stmt.kind == StmtKind::kRequire && !is_first && begins(0)) ++part;
      const bool is_cut = MayWait(expr) || stmt.fallback != nullptr || stmt.policy.timeout_ns > 0;
      for (const LocalId local : ReadsOf(expr, awaited.symbols())) {
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
