// The listing of a checked program: --emit=sema, and the oracle of tests.

#include <algorithm>
#include <map>

#include "compiler/base/utf8.h"
#include "compiler/ir/scalar.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check.h"

namespace wf::sema {
namespace {

std::string_view Spelling(BinaryOp op) {
  constexpr std::string_view kText[] = {"+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">="};
  return kText[static_cast<size_t>(op)];
}

std::string_view Spelling(ir::ReduceKind kind) {
  constexpr std::string_view kText[] = {"sum", "prod", "min", "max", "any", "all"};
  return kText[static_cast<size_t>(kind)];
}

std::string Quoted(std::string_view text) {
  constexpr size_t kShown = 200;
  std::string quoted = "\"";
  const bool is_long = text.size() > kShown;
  size_t end = is_long ? kShown : text.size();
  while (is_long && source::IsContinuation(text[end])) --end;
  for (const char c : text.substr(0, end)) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return quoted + (is_long ? "\".." : "\"");
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string Run() {
    for (const Const& constant : program_.consts) Line("const " + constant.name + ": " + ToString(constant.type));
    for (const Function& function : program_.functions) Print(function);
    for (const Model& model : program_.models) Print(model);
    for (const Remote& remote : program_.remotes) Line("remote " + remote.name + ' ' + Quoted(remote.address) + ' ' + remote.model);
    for (const ErrorCode& error : program_.errors) {
      Line("error " + error.name + " = " + std::to_string(error.code) + " " + Quoted(error.message) + " status " +
           std::to_string(error.canonical_status));
    }
    for (const Workflow& workflow : program_.workflows) Print(workflow);
    for (const Service& service : program_.services) Print(service);
    return std::move(out_);
  }

 private:
  void Line(const std::string& text) { out_ += std::string(indent_, ' ') + text + '\n'; }
  std::string NameOfLocal(LocalId local) const { return (*locals_)[local].name + '%' + std::to_string(local); }

  void Print(const Function& function) {
    locals_ = &function.locals;
    std::string head = "fn " + function.name + '(';
    for (uint32_t i = 0; i < function.n_params; ++i) {
      head += (i == 0 ? "" : ", ") + NameOfLocal(i) + ": " + ToString(function.locals[i].type);
    }
    head += ") -> " + ToString(function.result) + (function.may_fail ? " may_fail" : "");
    if (!function.body) {
      Line(head + " = native " + function.native);
      return;
    }
    Line(head + " =");
    indent_ = 2;
    Line(Text(*function.body));
    indent_ = 0;
  }

  static std::string PortsOf(const std::vector<ModelPort>& ports) {
    std::string text;
    for (const ModelPort& port : ports) text += (text.empty() ? "" : ", ") + port.name + ": " + ToString(port.type);
    return '(' + text + ')';
  }
  static std::string PolicyText(const ir::Policy& policy) {
    std::string text = "batch " + (policy.batch_max == 0 ? std::string("auto") : std::to_string(policy.batch_max));
    if (policy.delay_ns > 0) text += " within " + std::to_string(policy.delay_ns) + "ns";
    if (policy.queue_max > 0) text += " queue " + std::to_string(policy.queue_max);
    text += " instances " + std::to_string(policy.instances);
    if (policy.timeout_ns > 0) text += " timeout " + std::to_string(policy.timeout_ns) + "ns";
    if (policy.threads != 1) text += " threads " + std::to_string(policy.threads);
    if (policy.priority != 1) text += policy.priority == 0 ? " priority high" : " priority low";
    text += policy.precision == DType::kNone ? " precision auto" : " precision " + std::string(ir::NameOf(policy.precision));
    if (!policy.buckets.empty()) text += " pad to";
    for (const int64_t bucket : policy.buckets) text += ' ' + std::to_string(bucket);
    return text;
  }
  void Print(const Model& model) {
    Line("model " + model.name + PortsOf(model.in) + " -> " + PortsOf(model.out) + (model.batched ? " batched" : ""));
    Line("  " + PolicyText(model.defaults));
  }

  void Print(const Workflow& workflow) {
    locals_ = &workflow.locals;
    std::string head = "workflow " + workflow.name + '(';
    for (const Param& param : workflow.params) {
      head += (param.local == 0 ? "" : ", ") + NameOfLocal(param.local) + ": " + ToString(workflow.locals[param.local].type);
      head += param.required ? "" : param.default_value ? " = .." : " absent";
    }
    Line(head + ')');
    indent_ = 2;
    for (const DimCheck& check : workflow.param_checks)
      Line("check " + check.left.ToString() + (check.is_least ? " <= " : " == ") + check.right.ToString());
    std::map<uint32_t, size_t> indent{{0, 2}};  // of blocks
    for (const Stmt& stmt : workflow.body) {
      indent_ = indent[stmt.block];
      for (const uint32_t arm : stmt.arms) indent[arm] = indent_ + 2;
      Print(workflow, stmt);
    }
    indent_ = 0;
  }
  void PrintIf(const Stmt& stmt) {
    std::string text;
    for (size_t i = 0; i < stmt.arms.size(); ++i) {
      text += i == 0 ? "if " : " else ";
      if (i < stmt.conditions.size()) text += (i == 0 ? "" : "if ") + Text(*stmt.conditions[i]);
      text += " {" + std::to_string(stmt.arms[i]) + '}';
    }
    Line(text);
  }
  void Print(const Workflow& workflow, const Stmt& stmt) {
    switch (stmt.kind) {
      case StmtKind::kIf:
        return PrintIf(stmt);
      case StmtKind::kLet:
        return Line("let " + NameOfLocal(stmt.local) + ": " + ToString(stmt.value->type) + " = " + Text(*stmt.value));
      case StmtKind::kRequire:
        return Line("require " + Text(*stmt.value) + " else " + std::to_string(stmt.code) + ' ' + Text(*stmt.message));
      case StmtKind::kNode:
        Line("node " + NameOfLocal(stmt.local) + ": " + ToString(stmt.value->type) + " in " + workflow.stages[stmt.stage].name + " = " +
             Text(*stmt.value));
        if (stmt.policy.timeout_ns > 0 || stmt.policy.retry > 0 || stmt.value->kind == ExprKind::kCallModel)
          Line("  " + PolicyText(stmt.policy));
        if (stmt.fallback) Line("  else " + Text(*stmt.fallback));
        return;
      case StmtKind::kFail:
        return Line("fail " + std::to_string(stmt.code) + ' ' + Text(*stmt.message));
      case StmtKind::kReturn: {
        std::string results;
        for (size_t i = 0; i < stmt.results.size(); ++i) {
          results += (i == 0 ? "" : ", ") + workflow.results[i].name + ": " + Text(*stmt.results[i]);
        }
        return Line("return (" + results + ')');
      }
      case StmtKind::kAnnotate:
        return Line("annotate " + Text(*stmt.message) + ' ' + Text(*stmt.value));
    }
  }

  void Print(const Service& service) {
    std::string members;
    for (const Service::Member& member : service.members) {
      members += ' ' + member.published_name + '=' +
                 (member.is_model ? program_.models[member.index].name : program_.workflows[member.index].name);
    }
    Line("service " + service.name + members);
    std::string written;
    if (service.timeout_ns > 0) written += " timeout " + std::to_string(service.timeout_ns) + "ns";
    if (service.body_max > 0) written += " body " + std::to_string(service.body_max);
    if (service.inflight_max > 0) written += " inflight " + std::to_string(service.inflight_max);
    if (service.rows_max > 0) written += " rows " + std::to_string(service.rows_max);
    if (!written.empty()) Line(" " + written);
  }

  std::string List(const std::vector<ExprPtr>& exprs) {
    std::string text;
    for (const ExprPtr& expr : exprs) text += (text.empty() ? "" : ", ") + Text(*expr);
    return text;
  }
  std::string Indices(const Expr& expr) {
    std::string text;
    for (size_t i = 0; i < expr.index_locals.size(); ++i) {
      text += (i == 0 ? "" : ", ") + NameOfLocal(expr.index_locals[i]) + " < " + Text(*expr.extents[i]);
    }
    return '[' + text + ']';
  }
  std::string LoopText(const Loop& loop) {
    std::string names;
    for (const LocalId local : loop.locals) names += (names.empty() ? "" : ", ") + NameOfLocal(local);
    return " for " + names + " in " + (loop.enumerate ? "enumerate " : "") + List(loop.sources);
  }
  std::string SubscriptText(const Subscript& subscript) {
    const auto end = [&](const ExprPtr& expr) { return expr ? Text(*expr) : std::string(); };
    return subscript.is_slice ? end(subscript.first) + ':' + end(subscript.last) : Text(*subscript.first);
  }

  // Chains of operators are walked: (((a + b) + c) + d).
  std::string ChainText(const Expr& expr) {
    std::vector<const Expr*> chain;
    const Expr* at = &expr;
    for (; at->kind == ExprKind::kBinary || at->kind == ExprKind::kAnd || at->kind == ExprKind::kOr; at = at->args[0].get())
      chain.push_back(at);
    std::string text = std::string(chain.size(), '(') + Text(*at);
    for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
      const std::string_view op = (*step)->kind == ExprKind::kAnd  ? "&&"
                                  : (*step)->kind == ExprKind::kOr ? "||"
                                                                   : Spelling((*step)->binary);
      text += ' ' + std::string(op) + ' ' + Text(*(*step)->args[1]) + ')';
    }
    return text;
  }

  std::string BlockText(const Expr& expr) {
    std::string text = "{ ";
    for (const BlockStep& step : expr.steps) {
      text += step.is_let ? "let " + NameOfLocal(step.local) + " = " + Text(*step.value)
                          : "require " + Text(*step.value) + " else " + std::to_string(step.code) + ' ' + Text(*step.message);
      text += "; ";
    }
    return text + Text(*expr.args[0]) + " }";
  }

  std::string IfText(const Expr& expr) {
    std::string text;
    for (size_t i = 0; i + 1 < expr.args.size(); i += 2) text += "if " + Text(*expr.args[i]) + " { " + Text(*expr.args[i + 1]) + " } else ";
    return text + "{ " + Text(*expr.args.back()) + " }";
  }

  std::string Text(const Expr& expr) {
    std::string text = Bare(expr);
    for (const DimCheck& check : expr.checks)
      text += " check(" + check.left.ToString() + (check.is_least ? " <= " : " == ") + check.right.ToString() + ')';
    return text;
  }

  std::string ListText(const Expr& expr) {
    if (!expr.loop) return '[' + List(expr.args) + ']';
    return '[' + Text(*expr.args[0]) + LoopText(*expr.loop) + (expr.condition ? " if " + Text(*expr.condition) : "") + ']';
  }

  std::string IndexText(const Expr& expr) {
    std::string subscripts;
    for (const Subscript& subscript : expr.subscripts) subscripts += (subscripts.empty() ? "" : ", ") + SubscriptText(subscript);
    return Text(*expr.args[0]) + '[' + subscripts + ']';
  }

  std::string EachText(const Expr& expr) {
    const std::string other = expr.args.size() > 1 ? " else " + Text(*expr.args[1]) : "";
    return LoopText(*expr.loop).substr(1) + " { " + Text(*expr.args[0]) + other + " }";
  }

  std::string Called(std::string_view name, const Expr& expr) { return std::string(name) + '(' + List(expr.args) + ')'; }

  std::string OptionalText(const Expr& expr) {
    if (expr.kind == ExprKind::kNone) return "none";
    if (expr.kind == ExprKind::kCoalesce) return '(' + Text(*expr.args[0]) + " ?? " + Text(*expr.args[1]) + ')';
    return Called(expr.kind == ExprKind::kSome ? "some" : expr.kind == ExprKind::kHas ? "has" : "unwrap", expr);
  }

  std::string FunctionText(const Expr& expr) {
    std::string symbols;
    for (const auto& [symbol, dim] : expr.symbols) symbols += (symbols.empty() ? " where " : ", ") + symbol + " = " + dim.ToString();
    return program_.functions[expr.index].name + '(' + List(expr.args) + symbols + ')';
  }

  std::string Bare(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::kScalar:
        return ir::ScalarText(expr.type->dtype, expr.bits) + ':' + ToString(expr.type);
      case ExprKind::kText:
        return Quoted(expr.text) + (expr.args.empty() ? "" : " % (" + List(expr.args) + ')');
      case ExprKind::kLocal:
        return NameOfLocal(expr.local);
      case ExprKind::kDimValue:
        return "dim(" + expr.dim.ToString() + ')';
      case ExprKind::kConst:
        return program_.consts[expr.index].name;
      case ExprKind::kField:
        return Text(*expr.args[0]) + '.' + expr.args[0]->type->fields[expr.index].name;
      case ExprKind::kList:
      case ExprKind::kListLoop:
        return ListText(expr);
      case ExprKind::kUnary:
        return (expr.unary == UnaryOp::kNot ? "!" : "-") + Text(*expr.args[0]);
      case ExprKind::kBinary:
      case ExprKind::kAnd:
      case ExprKind::kOr:
        return ChainText(expr);
      case ExprKind::kIndex:
        return IndexText(expr);
      case ExprKind::kListIndex:
      case ExprKind::kMapIndex:
        return Text(*expr.args[0]) + '[' + Text(*expr.args[1]) + ']';
      case ExprKind::kBuild:
        return Indices(expr) + " => " + Text(*expr.args[0]);
      case ExprKind::kReduce:
        return std::string(Spelling(expr.reduce)) + Indices(expr) + '(' + Text(*expr.args[0]) + ')';
      case ExprKind::kFold:
        return "fold " + NameOfLocal(expr.local) + " = " + Text(*expr.args[0]) + LoopText(*expr.loop) + " { " + Text(*expr.args[1]) + " }";
      case ExprKind::kIf:
        return IfText(expr);
      case ExprKind::kBlock:
        return BlockText(expr);
      case ExprKind::kFail:
        return "fail " + std::to_string(expr.code) + ' ' + Text(*expr.args[0]);
      case ExprKind::kEach:
        return EachText(expr);
      case ExprKind::kCallFn:
      case ExprKind::kCallExtern:
        return FunctionText(expr);
      case ExprKind::kCallModel:
        return Called(program_.models[expr.index].name, expr);
      case ExprKind::kCallRemote:
        return Called(program_.remotes[expr.index].name, expr);
      case ExprKind::kCallWorkflow:
        return Called(program_.workflows[expr.index].name, expr);
      case ExprKind::kRecord:
        return Called(expr.type->name, expr);
      case ExprKind::kConvert:
        return Called(ir::NameOf(expr.type->dtype), expr);
      case ExprKind::kBuiltin:
        return Called(NameOf(static_cast<Builtin>(expr.index)), expr);
      case ExprKind::kNone:
      case ExprKind::kSome:
      case ExprKind::kCoalesce:
      case ExprKind::kHas:
      case ExprKind::kUnwrap:
        return OptionalText(expr);
      case ExprKind::kMeta:
        return Called("meta", expr);
    }
    return "?";
  }

  const Program& program_;
  const std::vector<Local>* locals_ = nullptr;
  std::string out_;
  size_t indent_ = 0;
};

}  // namespace

std::string Print(const Program& program) { return Printer(program).Run(); }

}  // namespace wf::sema
