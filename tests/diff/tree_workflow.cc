// Workflows, statement by statement.

#include <algorithm>

#include "compiler/sema/walk.h"
#include "runtime/base/error_codes.h"
#include "tests/diff/tree_run.h"

namespace wf::diff {

std::string ToString(const std::set<int32_t>& codes) {
  std::string text;
  for (const int32_t code : codes)
    text += (text.empty() ? "" : " or ") + (code == kNoted ? "another that was noted" : std::to_string(code));
  return text;
}

Tree::Tree(const sema::Program& checked, const ir::Program& program) : run_(std::make_unique<TreeRun>(checked, program)) {}
Tree::~Tree() = default;
TreeAnswer Tree::Answer(const std::string& workflow, const std::vector<ir::Value>& inputs, const Input& input) {
  return run_->Answer(workflow, inputs, input);
}

TreeAnswer TreeRun::Answer(const std::string& name, const std::vector<ir::Value>& inputs, const Input& input) {
  answer_ = {};
  steps_ = 0;
  tensor_depth_ = loop_depth_ = each_depth_ = 0;
  input_ = &input;
  const auto found = std::find_if(checked_.workflows.begin(), checked_.workflows.end(), [&](const auto& one) { return one.name == name; });
  if (found == checked_.workflows.end()) return {.unknown = "no such workflow", .broken = {}, .values = {}, .codes = {}};
  Frame frame;
  frame.names = &found->locals;
  frame.locals.resize(found->locals.size());
  frame.workflow = &*found;
  for (size_t i = 0; i < inputs.size(); ++i) frame.locals[found->params[i].local] = Made{inputs[i], {}};
  Made made;
  BindParams(frame, inputs.size(), made, code::kInputParams);
  frame_ = &frame;
  if (made.codes.empty() && RunWorkflow(made.codes) == Passed::kOn && !stopped()) Broken("no statement returns");
  frame_ = nullptr;
  if (made.codes.empty() && !stopped()) answer_.values = std::move(*frame.returned);
  answer_.codes = std::move(made.codes);
  return std::move(answer_);
}

TreeRun::Passed TreeRun::RunWorkflow(std::set<int32_t>& codes) {
  for (const sema::Stmt& stmt : frame_->workflow->body)
    if (stmt.kind == sema::StmtKind::kLet || stmt.kind == sema::StmtKind::kNode) frame_->statements[stmt.local] = &stmt;
  const int tensor_depth = std::exchange(tensor_depth_, 0), loop_depth = std::exchange(loop_depth_, 0);
  const Passed passed = RunStatements(0, codes);
  tensor_depth_ = tensor_depth;
  loop_depth_ = loop_depth;
  return passed;
}

// The nodes and lets that the text of an expression names, in whatever arm, but for those that literals and constants rule out.
const TreeRun::Awaited& TreeRun::AwaitedBy(const Expr& expr) {
  const auto [at, is_new] = awaited_.try_emplace(&expr);
  if (!is_new) return at->second;
  Awaited& awaited = at->second;
  const std::vector<sema::Stmt>& body = frame_->workflow->body;
  const auto add = [&](LocalId local) {
    const auto found = frame_->statements.find(local);
    if (found == frame_->statements.end()) return;
    if (std::find(awaited.begin(), awaited.end(), found->second) == awaited.end()) awaited.push_back(found->second);
  };
  const auto add_symbols = [&](const base::Dim& dim) {
    for (const std::string& symbol : dim.Symbols())
      for (const sema::Stmt& stmt : body) {
        if (stmt.kind != sema::StmtKind::kLet && stmt.kind != sema::StmtKind::kNode) continue;
        const auto& fresh = stmt.value->fresh;
        if (std::any_of(fresh.begin(), fresh.end(), [&](const sema::FreshSymbol& one) { return one.symbol == symbol; })) add(stmt.local);
      }
  };
  const auto value = [&](const Expr& condition) -> std::optional<bool> {
    const Made made = Eval(condition);
    return made.value && made.codes.empty() ? std::optional(made.value->bits != 0) : std::nullopt;
  };
  sema::ForEachCounted(expr, value, [&](const Expr& inside) {
    if (inside.kind == ExprKind::kLocal) add(inside.local);
    if (inside.kind == ExprKind::kDimValue) add_symbols(inside.dim);
    for (const sema::DimCheck& check : inside.checks) {
      add_symbols(check.left);
      add_symbols(check.right);
    }
  });
  return awaited;
}

Made TreeRun::EvalAwaited(const Expr& expr) {
  Made made;
  for (const sema::Stmt* const stmt : AwaitedBy(expr))
    if (!frame_->under_way.contains(stmt->local)) made.Take(Read(stmt->local));
  return made.codes.empty() ? Eval(expr) : made;
}

// The value of a node or `let`, which the first that reads it asks for: what nobody reads is not computed, or nobody hears of it.
void TreeRun::Force(const sema::Stmt& stmt) {
  const int tensor_depth = std::exchange(tensor_depth_, 0), loop_depth = std::exchange(loop_depth_, 0);
  const int each_depth = std::exchange(each_depth_, 0);
  const int64_t elements = std::exchange(elements_, 0);
  const uint32_t limit = std::exchange(limit_, stmt.limit);
  frame_->under_way.insert(stmt.local);
  Made made = NodeValue(stmt);
  frame_->under_way.erase(stmt.local);
  if (!made.codes.empty()) made.value.reset();
  if (made.value) AddSymbols(*stmt.value, *made.value);  // also where it is that of the fallback
  Bind(stmt.local, std::move(made), true);
  tensor_depth_ = tensor_depth;
  loop_depth_ = loop_depth;
  each_depth_ = each_depth;
  elements_ = elements;
  limit_ = limit;
}

Made TreeRun::NodeValue(const sema::Stmt& stmt) {
  const TypeRef type = (*frame_->names)[stmt.local].type;
  Made made = EvalAwaited(*stmt.value);
  if (made.value) HasShape(type, *made.value, made.codes);
  if (made.codes.empty() || stmt.fallback == nullptr) return made;
  frame_->errors[stmt.err_local] = made.codes;
  Made fallback = EvalAwaited(*stmt.fallback);
  if (fallback.value) HasShape(type, *fallback.value, fallback.codes);
  return fallback;
}

TreeRun::Passed TreeRun::RunStatements(uint32_t block, std::set<int32_t>& codes) {
  for (const sema::Stmt& stmt : frame_->workflow->body) {
    if (stmt.block != block) continue;
    const Passed passed = RunStatement(stmt, codes);
    if (passed != Passed::kOn || stopped()) return passed;
  }
  return Passed::kOn;
}

TreeRun::Passed TreeRun::RunStatement(const sema::Stmt& stmt, std::set<int32_t>& codes) {
  Made made;
  switch (stmt.kind) {
    case sema::StmtKind::kLet:
    case sema::StmtKind::kNode:
    case sema::StmtKind::kAnnotate:  // what it says is compared elsewhere
      return Passed::kOn;
    case sema::StmtKind::kIf:
      for (size_t i = 0; i < stmt.arms.size(); ++i) {
        if (i < stmt.conditions.size()) {
          Made condition = EvalAwaited(*stmt.conditions[i]);
          codes.insert(condition.codes.begin(), condition.codes.end());
          if (!condition.value || !condition.codes.empty()) return Passed::kFailed;
          if (condition.value->bits == 0) continue;
        }
        return RunStatements(stmt.arms[i], codes);
      }
      return Passed::kOn;
    case sema::StmtKind::kRequire:
      made = EvalAwaited(*stmt.value);
      if (!made.value || made.value->bits != 0) break;
      [[fallthrough]];
    case sema::StmtKind::kFail:
      made.codes.insert(stmt.code);
      if (stmt.message != nullptr) made.Take(EvalAwaited(*stmt.message));
      break;
    case sema::StmtKind::kReturn: {
      std::vector<ir::Value> values;
      for (size_t i = 0; i < stmt.results.size(); ++i) {
        Made value = EvalAwaited(*stmt.results[i]);
        if (value.value) HasShape(frame_->workflow->results[i].type, *value.value, value.codes);
        made.Take(value);
        values.push_back(value.value ? std::move(*value.value) : ir::Value{});
      }
      if (stopped()) return Passed::kFailed;
      if (made.codes.empty()) frame_->returned = std::move(values);
      codes.insert(made.codes.begin(), made.codes.end());
      return made.codes.empty() ? Passed::kReturned : Passed::kFailed;
    }
  }
  codes.insert(made.codes.begin(), made.codes.end());
  return made.codes.empty() ? Passed::kOn : Passed::kFailed;
}

}  // namespace wf::diff
