// Workflows: parameters, statements, results.

#include <algorithm>
#include <utility>

#include "compiler/diag/foreign.h"
#include "compiler/sema/check_decl.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/mentions.h"
#include "compiler/sema/node_policy.h"
#include "compiler/sema/stages.h"
#include "compiler/sema/workflow_params.h"
#include "runtime/abi/defaults.h"

namespace wf::sema {
namespace {

// The statements of one workflow, in order.
class WorkflowCheck {
 public:
  WorkflowCheck(Env& env, const ast::WorkflowDecl& decl, Body& body, const Signature& signature, Workflow& out)
      : env_(env), decl_(decl), body_(body), signature_(signature), out_(out) {}

  void Run() {
    for (const ast::StmtPtr& stmt : decl_.body) Statement(*stmt, -1, nullptr);
    if (!ended_ && !open_end_ && !decl_.has_errors) {
      auto report = env_.Report(decl_.name.span, kMissingReturn, {decl_.name.text});
      if (const ast::Stmt* last = decl_.body.empty() ? nullptr : decl_.body.back().get(); last && last->kind == ast::StmtKind::kIfStmt)
        report.Label({last->span.file, last->span.begin, last->span.begin + 2}, "control may leave this `if` at its end");
      report.Help("as in `return " + ReturnForm() + ";`");
      body_.silenced = true;
    }
    for (size_t i = 0; i < body_.infos.size() && sound_; ++i) {
      const bool unused = body_.infos[i].kind == LocalKind::kNode && !body_.infos[i].used && !body_.locals[i].name.starts_with('_');
      if (unused && !body_.silenced) env_.Report(body_.locals[i].span, kUnusedNode, {body_.locals[i].name});
    }
    out_.locals = body_.locals;
    if (sound_) ReportReach(body_, out_);
    if (sound_) {
      FinishGraph(env_, out_, written_);
    } else {
      for (const ast::StageStmt* stage : stages_) ReportInside(*stage);
    }
  }

 private:
  Where At(std::string_view what, const Span& span) const {
    Where where;
    where.workflow = true;
    where.what = what;
    where.span = span;
    where.holder = Where::Holder::kNode;
    where.n_above = static_cast<LocalId>(body_.locals.size());
    return where;
  }

  void Add(Stmt stmt, int written = -1) {
    if (ended_) return;
    stmt.block = block_;
    out_.body.push_back(std::move(stmt));
    written_.push_back(written);
  }

  void Statement(const ast::Stmt& stmt, int stage, const SettingValues* stage_settings) {
    if (ended_ && !unreachable_reported_) {
      unreachable_reported_ = true;
      env_.Report(end_span_, kUnreachable, {end_word_}).Label(stmt.span, "never runs");
    }
    switch (stmt.kind) {
      case ast::StmtKind::kLetStmt:
        return Let(static_cast<const ast::LetStmt&>(stmt));
      case ast::StmtKind::kRequireStmt:
        return Require(static_cast<const ast::RequireStmt&>(stmt));
      case ast::StmtKind::kNodeStmt:
        return Node(static_cast<const ast::NodeStmt&>(stmt), stage, stage_settings);
      case ast::StmtKind::kStageStmt:
        return Stage(static_cast<const ast::StageStmt&>(stmt));
      case ast::StmtKind::kIfStmt:
        return If(static_cast<const ast::IfStmt&>(stmt));
      case ast::StmtKind::kCallStmt:
        return Call(static_cast<const ast::CallStmt&>(stmt));
      case ast::StmtKind::kReturnStmt:
        return Return(static_cast<const ast::ReturnStmt&>(stmt));
      case ast::StmtKind::kFailStmt:
        return Fail(static_cast<const ast::FailStmt&>(stmt));
      case ast::StmtKind::kStubStmt:
      case ast::StmtKind::kExpectStmt:
      case ast::StmtKind::kErrorStmt:
        body_.silenced = open_end_ = true;
        sound_ = false;
        return;
    }
  }

  // The value of a `let` or a node, with names for all its dimensions.
  ExprPtr Value(const ast::Type* type, const ast::Expr& value, const Where& where, TypeRef& written) {
    written = type != nullptr ? ResolveType(body_, *type, SymbolRule::kUse) : nullptr;
    if (written != nullptr && written->kind == TypeKind::kError) {  // what the value is, is not known
      CheckExpr(body_, value, written, where);
      return Poison(body_, value.span);
    }
    return written != nullptr ? CheckAs(body_, value, written, where, Origin{type->span, std::string(kWrittenHere), type})
                              : CheckExpr(body_, value, nullptr, where);
  }

  void Let(const ast::LetStmt& let) {
    const uint32_t mark = body_.NextSymbol();
    TypeRef written = nullptr;
    Where where = At("a `let`", let.name.span);
    where.let = &let;
    ExprPtr value = HasType(body_, let.name, Value(let.type.get(), *let.value, where, written));
    if (IsPoison(*value)) {
      body_.Declare(LocalKind::kLet, let.name, written != nullptr ? written : value->type);
      sound_ = false;
      return;
    }
    Settle(body_, *value, mark);
    Stmt stmt;
    stmt.span = let.span;
    stmt.local = body_.Declare(LocalKind::kLet, let.name, value->type);
    body_.infos[stmt.local].written = WrittenTypeOf(body_, *value);
    if (ended_) body_.infos[stmt.local].used = true;
    BindIntegerLocal(body_, stmt.local, *value);
    body_.infos[stmt.local].held = HeldBy(body_, *value);
    stmt.value = std::move(value);
    Add(std::move(stmt));
  }

  void Require(const ast::RequireStmt& require) {
    auto step = CheckRequire(body_, require, At("a condition", require.condition->span));
    if (!step) {
      sound_ = false;
      return;
    }
    Stmt stmt;
    stmt.kind = StmtKind::kRequire;
    stmt.span = require.span;
    stmt.value = std::move(step->value);
    stmt.code = step->code;
    stmt.message = std::move(step->message);
    Add(std::move(stmt));
  }

  // Parameters and literals, which are there before anything can fail.
  bool IsAtHand(const Expr& value) const {
    if (!value.checks.empty()) return false;
    if (value.kind == ExprKind::kLocal) return body_.infos[value.local].kind == LocalKind::kParam;
    return value.kind == ExprKind::kScalar || value.kind == ExprKind::kConst;
  }

  void Node(const ast::NodeStmt& node, int stage, const SettingValues* stage_settings) {
    const uint32_t mark = body_.NextSymbol();
    body_.BeginNode();
    Where where = At("a node", node.name.span);
    where.may_wait = true;
    TypeRef written = nullptr;
    ExprPtr value = Value(node.type.get(), *node.value, where, written);
    if (!node.fallback || value->type->kind == TypeKind::kNever) value = HasType(body_, node.name, std::move(value));
    const NodeFacts facts{
        node.name.text, node.name.span, body_.model_calls, body_.n_loops > 0, body_.n_outside_calls > 0, OnlyCallsWorkflows(*value)};
    SettingValues own;
    if (node.settings) own = ReadSettings(env_, node.settings->settings, kInNode);
    Stmt stmt;
    stmt.kind = StmtKind::kNode;
    stmt.span = node.span;
    bool sound = !IsPoison(*value);
    if (sound) Settle(body_, *value, mark);
    if (node.fallback) {
      const Origin origin = node.type ? Origin{node.type->span, std::string(kWrittenHere), node.type.get()} : Origin{};
      Fallback fallback = CheckFallback(body_, {*node.fallback, node.name.span, written, &origin}, value, mark);
      stmt.fallback = std::move(fallback.value);
      stmt.err_local = fallback.err;
      if (stmt.fallback) value = HasType(body_, node.name, std::move(value));
      sound = sound && stmt.fallback != nullptr && !IsPoison(*value);
    }
    if (node.fallback && !node.settings && sound && IsAtHand(*value))
      env_.Report(node.fallback->span, kDeadFallback, {env_.input.sources.Text(node.value->span)});
    const TypeRef known = IsPoison(*value) && written != nullptr ? written : value->type;
    stmt.local = body_.Declare(LocalKind::kNode, node.name, known);
    body_.infos[stmt.local].written = WrittenTypeOf(body_, *value);
    if (ended_) body_.infos[stmt.local].used = true;  // said once, for all that never runs
    if (!sound) {
      sound_ = false;
      return;
    }
    BindIntegerLocal(body_, stmt.local, *value);
    if (!node.fallback) body_.infos[stmt.local].held = HeldBy(body_, *value);
    stmt.value = std::move(value);
    stmt.policy = NodePolicy(env_, facts, own, stage_settings, stage_used_);
    if (own.limit)
      stmt.limit = static_cast<uint32_t>(own.limit->value);
    else if (facts.has_loop && stage_settings != nullptr && stage_settings->limit)
      stmt.limit = static_cast<uint32_t>(stage_settings->limit->value);
    Add(std::move(stmt), stage);
  }

  void Stage(const ast::StageStmt& stage) {
    const auto same =
        std::find_if(stage_names_.begin(), stage_names_.end(), [&](const ast::Name& name) { return name.text == stage.name.text; });
    if (same != stage_names_.end())
      env_.Report(stage.name.span, kDuplicateName, {stage.name.text}).Label(same->span, "first declared here");
    stage_names_.push_back(stage.name);
    stages_.push_back(&stage);
    SettingValues values;
    if (stage.settings) values = ReadSettings(env_, stage.settings->settings, kInStage);
    stage_used_.clear();
    const bool was_sound = std::exchange(sound_, true);
    const int index = static_cast<int>(out_.stages.size());
    out_.stages.push_back({stage.name.text, true});
    for (const ast::StmtPtr& node : stage.nodes) Statement(*node, index, stage.settings ? &values : nullptr);
    if (stage.settings && sound_) ReportUnusedStageSettings(env_, stage.name.text, values, stage_used_);
    sound_ = sound_ && was_sound;
  }

  // Nodes of the stage that name others of it, where there is no graph because of other mistakes.
  void ReportInside(const ast::StageStmt& stage) {
    std::map<std::string, Span> above;
    for (const ast::StmtPtr& stmt : stage.nodes) {
      const auto* node = ast::DynAs<ast::NodeStmt>(*stmt);
      if (node == nullptr) continue;
      NameSet names;
      CollectNames(*stmt, names);
      for (const std::string& name : names) {
        const auto there = above.find(name);
        if (there != above.end()) ReportStageDependency(env_, node->name.text, node->name.span, name, there->second);
      }
      above.emplace(node->name.text, node->name.span);
    }
  }

  void If(const ast::IfStmt& branch) {
    Span word = branch.span;
    word.end = word.begin + 2;
    Stmt stmt;
    stmt.kind = StmtKind::kIf;
    stmt.span = branch.span;
    for (const ast::IfStmt::Arm& arm : branch.arms) {
      stmt.conditions.push_back(CheckAs(body_, *arm.condition, env_.types.Scalar(DType::kBool), At("a condition", arm.condition->span)));
      sound_ = sound_ && !IsPoison(*stmt.conditions.back());
    }
    std::vector<const std::vector<ast::StmtPtr>*> arms;
    for (const ast::IfStmt::Arm& arm : branch.arms) arms.push_back(&arm.body);
    if (branch.otherwise) arms.push_back(&*branch.otherwise);
    const uint32_t first = n_blocks_;
    for (size_t i = 0; i < arms.size(); ++i) stmt.arms.push_back(n_blocks_++);
    Add(std::move(stmt));
    bool all_end = branch.otherwise.has_value();
    for (size_t i = 0; i < arms.size(); ++i) all_end = Arm(*arms[i], first + static_cast<uint32_t>(i)) && all_end;
    if (all_end) End("if", word);
  }

  // Does control never leave it at its end?
  bool Arm(const std::vector<ast::StmtPtr>& statements, uint32_t block) {
    const Scope scope(body_, statements);
    const uint32_t around = std::exchange(block_, block);
    const bool was_ended = ended_;
    for (const ast::StmtPtr& stmt : statements) Statement(*stmt, -1, nullptr);
    block_ = around;
    return std::exchange(ended_, was_ended);
  }

  // `retrun (x: 1);` reads as a call.
  void ReportCall(const ast::CallStmt& call, const std::string& callee) {
    if (const auto near = diag::Suggest(callee, {"require", "return", "fail", "if"})) {
      env_.Report(call.callee.span, kUnknownStart, {callee, "statement"}).Help(*near);
      open_end_ = body_.silenced = true;
      return;
    }
    const std::string& last = call.callee.parts.back().text;
    auto told = diag::OursFor(diag::Foreign::kCall, callee);
    if (told.empty() && call.callee.parts.size() > 1) told = diag::OursFor(diag::Foreign::kMember, last);
    auto builder = env_.Report(call.span, kOnlyAnnotate, {callee});
    if (told.empty()) {
      builder.HelpIf(diag::Suggest(callee, {"annotate"})).Help("a value is kept by `node NAME = " + callee + "(..)`");
    } else {
      builder.Help(std::string(told));
    }
  }

  void Call(const ast::CallStmt& call) {
    const std::string callee = ast::ToString(call.callee);
    if (callee != "annotate") {
      ReportCall(call, callee);
      for (const ast::Argument& argument : call.arguments) SkipUnchecked(body_, *argument.value);
      sound_ = false;
      return;
    }
    std::string key;
    const auto named = std::ranges::find_if(call.arguments, [](const ast::Argument& argument) { return argument.label.has_value(); });
    if (named != call.arguments.end()) {
      env_.Report(named->label->span, kUnknownParameter, {callee, named->label->text}).Help("as in `annotate(\"key\", value)`");
      sound_ = false;
      return;
    }
    if (call.arguments.size() != 2) {
      env_.Report(call.span, kTooManyArguments, {callee, "a key and a value", call.arguments.size()});
      sound_ = false;
      return;
    }
    if (PlainText(*call.arguments[0].value, key) == nullptr) {
      env_.Report(call.arguments[0].span, kConstantKey, {"annotate"});
      sound_ = false;
    } else if (!IsWireName(key)) {
      env_.Report(call.arguments[0].span, kHeaderKey, {key});
      sound_ = false;
    }
    ExprPtr value = ToText(body_, CheckExpr(body_, *call.arguments[1].value, nullptr, At("an `annotate`", call.span)));
    if (IsPoison(*value)) sound_ = false;
    body_.annotates = true;
    Stmt stmt;
    stmt.kind = StmtKind::kAnnotate;
    stmt.span = call.span;
    stmt.message = MakeText(body_, key, call.arguments[0].span);
    stmt.value = std::move(value);
    Add(std::move(stmt));
  }

  // `return (a: x)` says which results there are before their types are compared.
  bool SameNames(const ast::Expr& value) {
    const auto* tuple = ast::DynAs<ast::TupleExpr>(value);
    if (tuple == nullptr || signature_.result->kind != TypeKind::kRecord) return true;
    std::set<std::string> wanted, found;
    std::string wanted_text, found_text;
    for (const Field& field : signature_.result->fields) {
      wanted.insert(field.name);
      wanted_text += (wanted_text.empty() ? "`" : ", `") + field.name + "`";
    }
    for (const ast::TupleExpr::Field& field : tuple->fields) {
      found.insert(field.label.text);
      found_text += (found_text.empty() ? "`" : ", `") + field.label.text + "`";
    }
    if (wanted == found) return true;
    if (found.size() != tuple->fields.size()) return false;  // the tuple says what is there twice
    env_.Report(value.span, kResultDiffers, {decl_.name.text, wanted_text, found_text}).Label(decl_.result->span, "declared here");
    return false;
  }

  // "(y: .., z: ..)"
  std::string ReturnForm() const {
    std::string form;
    for (const Field& field : signature_.result->fields) form += (form.empty() ? "(" : ", ") + field.name + ": ..";
    return form.empty() ? "(label: text)" : form + ")";
  }

  void Return(const ast::ReturnStmt& result) {
    const bool names = SameNames(*result.value);
    const uint32_t mark = body_.NextSymbol();
    const bool known = names && signature_.result->kind == TypeKind::kRecord;
    const Origin origin{decl_.result->span, "the result declared here", decl_.result.get()};
    ExprPtr value =
        CheckExpr(body_, *result.value, known ? HintOf(signature_.result) : nullptr, At("a `return`", result.span).For(&origin));
    if (value->type->kind == TypeKind::kNever) value = NoReturn(result, *value);
    const bool bare = value->type->kind != TypeKind::kRecord;
    if (known && !IsPoison(*value) && bare) {
      env_.Report(value->span, kTypeMismatch, {ToString(signature_.result), ToString(value->type)})
          .Label(decl_.result->span, "the result declared here")
          .Help("results have names: `return " + ReturnForm() + ";`");
      value = Poison(body_, value->span);
    }
    if (known && !IsPoison(*value)) value = FitResult(body_, std::move(value), signature_, decl_.result->span);
    if (!known || IsPoison(*value)) {
      sound_ = false;
    } else {
      AddReturn(result, std::move(value), mark);
    }
    End("return", result.span);
  }
  // `return fail E;`: the failure needs no `return`.
  ExprPtr NoReturn(const ast::ReturnStmt& result, const Expr& value) {
    const std::string text(env_.input.sources.Text(value.span));
    auto report = env_.Report(value.span, kWrongKind, {text, "never a value", "a value"});
    report.Help("`fail E;` is a statement of its own, as is `require c else fail E;`");
    if (result.value->kind == ast::ExprKind::kFailExpr) report.Fix({result.span.file, result.span.begin, value.span.begin}, "");
    return Poison(body_, value.span);
  }

  // Symbols of the result alone have no value to be wanted.
  TypeRef HintOf(TypeRef result) {
    return MapDims(env_.types, result, [&](const Dim& dim) {
      for (const std::string& symbol : dim.Symbols()) {
        if (!body_.symbols.contains(symbol)) return AnyDim();
      }
      return dim;
    });
  }
  void AddReturn(const ast::ReturnStmt& result, ExprPtr value, uint32_t mark) {
    Stmt stmt;
    stmt.kind = StmtKind::kReturn;
    stmt.span = result.span;
    if (value->kind == ExprKind::kRecord && value->checks.empty()) {
      stmt.results = std::move(value->args);
      return Add(std::move(stmt));
    }
    Settle(body_, *value, mark);
    Stmt let;
    let.span = result.span;
    let.local = body_.Declare(LocalKind::kLet, {"_", result.span}, value->type);
    body_.infos[let.local].used = true;
    for (uint32_t i = 0; i < value->type->fields.size(); ++i) {
      ExprPtr whole = Make(ExprKind::kLocal, value->type, result.span);
      whole->local = let.local;
      ExprPtr field = Make(ExprKind::kField, value->type->fields[i].type, result.span);
      field->index = i;
      field->args.push_back(std::move(whole));
      stmt.results.push_back(std::move(field));
    }
    let.value = std::move(value);
    Add(std::move(let));
    Add(std::move(stmt));
  }

  void Fail(const ast::FailStmt& fail) {
    auto raised = CheckRaised(body_, *fail.error, At("a `fail`", fail.span));
    if (!raised) {
      sound_ = false;
    } else {
      Stmt stmt;
      stmt.kind = StmtKind::kFail;
      stmt.span = fail.span;
      stmt.code = raised->code;
      stmt.message = std::move(raised->message);
      Add(std::move(stmt));
    }
    End("fail", fail.span);
  }

  void End(std::string_view word, const Span& span) {
    if (ended_) return;
    ended_ = true;
    end_word_ = word;
    end_span_ = span;
  }

  Env& env_;
  const ast::WorkflowDecl& decl_;
  Body& body_;
  const Signature& signature_;
  Workflow& out_;
  std::vector<int> written_;  // beside out_.body: index of the written stage, or -1
  std::vector<ast::Name> stage_names_;
  std::vector<const ast::StageStmt*> stages_;
  std::set<std::string> stage_used_;
  uint32_t block_ = 0, n_blocks_ = 1;  // block_: where statements go now
  bool sound_ = true, ended_ = false, open_end_ = false, unreachable_reported_ = false;
  std::string_view end_word_;
  Span end_span_;
};

// What no request could bring and no answer hold is told here, not to clients.
void CheckLevels(Env& env, const ast::WorkflowDecl& decl, const Signature& signature, const Workflow& workflow) {
  const auto check = [&env](const std::string& name, TypeRef type, const Span& span) {
    if (type->levels > abi::kValueLevels) env.Report(span, kTooManyLevels, {name, type->levels, abi::kValueLevels});
  };
  for (size_t i = 0; i < signature.params.size(); ++i) check(signature.params[i].name, signature.params[i].type, decl.params[i].span);
  for (size_t i = 0; i < workflow.results.size(); ++i)
    check(workflow.results[i].name, workflow.results[i].type, decl.result->fields[i].span);
}

void ReadResults(Env& env, const ast::WorkflowDecl& decl, const Signature& signature, Workflow& out) {
  if (signature.result->kind != TypeKind::kRecord) return;
  out.results = signature.result->fields;
  std::map<std::string, const ast::Type::Field*> seen;
  for (const ast::Type::Field& field : decl.result->fields) {
    const std::string wire = field.external_name.value_or(field.label.text);
    const auto [first, fresh] = seen.emplace(wire, &field);
    const bool is_told = !field.external_name && !fresh && !first->second->external_name;  // two of one name in the program
    if (!fresh && !is_told) env.Report(field.span, kDuplicateName, {wire}).Label(first->second->span, "first declared here");
    out.result_wire_names.push_back(wire);
  }
}

}  // namespace

void CheckWorkflow(Env& env, Module& module, Entity& entity, const ast::WorkflowDecl& decl) {
  Signature& signature = NewSignature(entity);
  Body body(env, module, &decl);
  const Scope scope(body, decl.body);
  ReadSignature(body, decl.params, decl.result.get(), signature);
  signature.may_wait = signature.may_fail = true;
  const bool named = decl.result->kind == ast::Type::Kind::kTuple && !decl.result->optional;
  if (!named && signature.result->kind != TypeKind::kError) {
    env.Report(decl.result->span, kWorkflowResult);
    signature.result = env.types.Error();
  }
  signature.broken = signature.broken || !named;
  Workflow workflow;
  workflow.name = entity.name;
  workflow.span = entity.span;
  ReadWorkflowParams(body, decl, signature, workflow);
  ReadResults(env, decl, signature, workflow);
  CheckLevels(env, decl, signature, workflow);
  if (decl.has_errors) body.silenced = true;
  WorkflowCheck(env, decl, body, signature, workflow).Run();
  signature.annotates = body.annotates;
  entity.index = static_cast<uint32_t>(env.program.workflows.size());
  env.program.workflows.push_back(std::move(workflow));
}

}  // namespace wf::sema
