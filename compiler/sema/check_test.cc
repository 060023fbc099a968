// Tests: each becomes a workflow without parameters, built by `wfc test` alone (docs/semantics.md 36).

#include <algorithm>

#include "compiler/sema/builtins.h"
#include "compiler/sema/check_call.h"
#include "compiler/sema/check_decl.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/names.h"
#include "compiler/sema/node_policy.h"
#include "compiler/sema/outcome.h"
#include "compiler/sema/stages.h"

namespace wf::sema {
namespace {

bool IsComparison(const Expr& expr) { return expr.kind == ExprKind::kBinary && expr.binary >= BinaryOp::kEq; }
std::string_view WordFor(EntityKind kind) {
  return kind == EntityKind::kModel ? "model" : kind == EntityKind::kRemote ? "remote" : "extern node";
}
bool IsClose(const Expr& expr) { return expr.kind == ExprKind::kBuiltin && static_cast<Builtin>(expr.index) == Builtin::kClose; }

// The statements of one test, in order.
class TestCheck {
 public:
  TestCheck(Env& env, Module& module, const ast::TestDecl& decl) : env_(env), decl_(decl), body_(env, module, &decl), outcomes_(body_) {}

  void Run() {
    {
      const Scope scope(body_, decl_.body);
      for (const ast::StmtPtr& stmt : decl_.body) Statement(*stmt);
    }
    ReportTwice();
    if (!sound_ || body_.silenced || decl_.has_errors) return env_.NoteUnsound(decl_.span);
    const auto expects = [](const ast::StmtPtr& stmt) { return stmt->kind == ast::StmtKind::kExpectStmt; };
    if (std::none_of(decl_.body.begin(), decl_.body.end(), expects)) env_.Report(decl_.title_span, kExpectsNothing, {decl_.title});
    Finish();
    env_.program.tests.push_back(std::move(test_));
  }

 private:
  void ReportTwice() const {
    const auto [first, is_new] = body_.module.tests.try_emplace(decl_.title, decl_.title_span);
    if (!is_new) env_.Report(decl_.title_span, kDuplicateName, {decl_.title}).Label(first->second, "first declared here");
  }

  Where At(std::string_view what, const Span& span) const {
    Where where;
    where.files = where.test = where.may_wait = true;
    where.what = what;
    where.span = span;
    where.holder = Where::Holder::kLet;
    where.n_above = static_cast<LocalId>(body_.locals.size());
    return where;
  }

  void Statement(const ast::Stmt& stmt) {
    if (const auto* let = ast::DynAs<ast::LetStmt>(stmt)) {
      Let(*let);
    } else if (const auto* stub = ast::DynAs<ast::StubStmt>(stmt)) {
      sound_ = (stub->key ? StubOfMetadata(*stub) : Stub(*stub)) && sound_;
    } else if (const auto* expect = ast::DynAs<ast::ExpectStmt>(stmt)) {
      sound_ = (expect->fails ? ExpectFailure(*expect) : Expect(*expect)) && sound_;
    } else {
      body_.silenced = true;
    }
  }

  void AddNode(const Span& span, LocalId local, ExprPtr value) {
    Stmt stmt;
    stmt.kind = StmtKind::kNode;
    stmt.span = span;
    stmt.local = local;
    stmt.value = std::move(value);
    std::set<std::string> none;
    const NodeFacts facts{body_.locals[local].name, span, body_.model_calls, false};
    stmt.policy = NodePolicy(env_, facts, {}, nullptr, none);
    test_.workflow.body.push_back(std::move(stmt));
  }

  std::string LineOf(const Span& span) const {  // a node without a name, in paths
    return "line " + std::to_string(env_.input.sources.PositionOf(span.file, span.begin).line);
  }

  // A node whose value is what the statement came to, and which never fails.
  void AddOutcome(Test::Outcome outcome, TypeRef side, ExprPtr value) {
    const LocalId local = outcomes_.Declare(LineOf(outcome.span), value->type, outcome.span);
    AddNode(outcome.span, local, std::move(value));
    Stmt& stmt = test_.workflow.body.back();
    stmt.err_local = outcomes_.DeclareError(outcome.span);
    stmt.fallback = outcomes_.OfFailure(stmt.err_local, side, outcome.span);
    body_.locals[local].type = stmt.fallback->type;  // of what only fails, too
    results_.push_back(local);
    test_.outcomes.push_back(std::move(outcome));
  }

  // Its failure is the test's even if nothing reads it.
  void Let(const ast::LetStmt& let) {
    const uint32_t mark = body_.NextSymbol();
    body_.BeginNode();
    auto step = CheckLet(body_, let, At("a `let`", let.name.span));
    if (!step) {
      sound_ = false;
      return;
    }
    Settle(body_, *step->value, mark);
    body_.locals[step->local].type = step->value->type;
    AddNode(let.span, step->local, std::move(step->value));
    AddOutcome({Test::Kind::kLet, let.span}, nullptr, outcomes_.After(Read(step->local, let.span)));
  }

  ExprPtr Read(LocalId local, const Span& span) {
    body_.BeginNode();
    ExprPtr read = Make(ExprKind::kLocal, body_.locals[local].type, span);
    read->local = local;
    return read;
  }

  bool Expect(const ast::ExpectStmt& expect) {
    body_.BeginNode();
    ExprPtr value = CheckAs(body_, *expect.value, env_.types.Scalar(DType::kBool), At("an `expect`", expect.span));
    if (IsPoison(*value)) return false;
    Test::Outcome outcome{Test::Kind::kHolds, expect.span};
    outcome.is_close = IsClose(*value);
    if (!outcome.is_close && !IsComparison(*value)) {
      AddOutcome(std::move(outcome), nullptr, outcomes_.OfCondition(std::move(value)));
      return true;
    }
    outcome.side = value->args[0]->type;
    const TypeRef side = outcomes_.ShownType(outcome.side);
    AddOutcome(std::move(outcome), side, outcomes_.OfComparison(std::move(value), side));
    return true;
  }

  bool ExpectFailure(const ast::ExpectStmt& expect) {
    body_.BeginNode();
    const uint32_t mark = body_.NextSymbol();
    ExprPtr value = CheckExpr(body_, *expect.value, nullptr, At("an `expect`", expect.span));
    Test::Outcome outcome{Test::Kind::kFails, expect.span};
    outcome.error = ast::ToString(*expect.fails);
    if (!CodeOf(*expect.fails, outcome.code) || IsPoison(*value)) return false;
    if (value->type->kind != TypeKind::kNever) {  // a node of its own: what comes after reads it, and so waits for all of it
      Settle(body_, *value, mark);
      const LocalId local = outcomes_.Declare(LineOf(expect.span), value->type, expect.span);
      AddNode(expect.span, local, std::move(value));
      value = Read(local, expect.span);
    }
    AddOutcome(std::move(outcome), nullptr, outcomes_.After(std::move(value)));
    return true;
  }

  bool CodeOf(const ast::Path& path, int32_t& code) {
    if (path.parts.size() == 1) {
      ast::NameExpr name(path.span);
      name.name = path.parts[0].text;
      const auto raised = CheckRaised(body_, name, At("an `expect`", path.span));
      if (raised) code = raised->code;
      return raised.has_value();
    }
    const Entity* error = Lookup(env_, body_.module, path, body_.self, {NameUse::kError, nullptr});
    if (error == nullptr || error->broken) return false;
    if (error->kind != EntityKind::kError) {
      env_.Report(path.span, kNotAnError, {NameOf(error->kind)}).Label(error->span, "declared here");
      return false;
    }
    code = error->code;
    return true;
  }

  // ---- stubs ----

  // It has the parameters of what it replaces, by name and in order.
  bool FitsTarget(const Entity& target, const Signature& written, const ast::StubStmt& stub) {
    if (!target.signature || !target.signature->may_wait || target.kind == EntityKind::kWorkflow) {
      env_.Report(stub.target.span, kStubTarget, {NameOf(target.kind)}).Label(target.span, "declared here");
      return false;
    }
    const Signature& wanted = *target.signature;
    if (wanted.broken) return false;
    if (wanted.params.size() != written.params.size()) {
      const std::string count = std::to_string(written.params.size()) + (written.params.size() == 1 ? " parameter" : " parameters");
      env_.Report(stub.target.span, kStubSignature, {target.name, count, WordFor(target.kind), std::to_string(wanted.params.size())})
          .Label(target.span, "declared here");
      return false;
    }
    bool fits = true;
    for (size_t i = 0; i < wanted.params.size(); ++i) {
      std::vector<DimPair> pairs;
      const TypeRef found = written.params[i].type;
      const bool same = MatchTypes(env_.types, wanted.params[i].type, found, nullptr, pairs);
      fits = fits && same && found->kind != TypeKind::kError;
      if (found->kind == TypeKind::kError || same) continue;
      env_.Report(stub.params[i].span, kTypeMismatch, {ToString(wanted.params[i].type), ToString(found)})
          .Label(target.span, "declared here");
    }
    return fits;
  }

  // What the target yields for these parameters: `[i] => ..` takes its extents from it. The shapes themselves are compared when the test
  // runs. Nothing after a report.
  std::optional<TypeRef> ResultOfStub(Body& inner, const Signature& target, const Signature& written, const ast::StubStmt& stub) const {
    DimSolver solver(inner, target);
    std::vector<ExprPtr> reads;
    for (size_t i = 0; i < target.params.size(); ++i) {
      std::vector<DimPair> pairs;
      const TypeRef wanted = target.params[i].type;
      reads.push_back(Make(ExprKind::kLocal, written.params[i].type, stub.params[i].span));
      reads.back()->local = static_cast<LocalId>(i);
      MatchTypes(env_.types, wanted, reads.back()->type, nullptr, pairs);
      for (const DimPair& pair : pairs) solver.Add(pair, wanted, *reads.back(), &target.params[i]);
    }
    if (solver.failed()) return std::nullopt;
    return MapDims(env_.types, target.result, [&](const Dim& dim) { return solver.ValueOf(dim).value_or(AnyDim()); });
  }

  // Becomes a function; its shapes are compared with those of the call when the test runs.
  bool Stub(const ast::StubStmt& stub) {
    Entity* target = Lookup(env_, body_.module, stub.target, &decl_, {NameUse::kModel, nullptr});
    Body inner(env_, body_.module, &decl_);
    inner.silenced = true;
    inner.around = &body_;
    const Scope scope(inner);
    Signature written;
    ReadSignature(inner, stub.params, nullptr, written);
    if (target == nullptr || !FitsTarget(*target, written, stub)) return false;
    const TypeRef wanted = target->signature->result;
    const TypeRef hint = WithoutSymbols(env_.types, wanted);
    const uint32_t mark = inner.NextSymbol();
    const auto solved = ResultOfStub(inner, *target->signature, written, stub);
    if (!solved) return false;
    const ExprKind call = target->kind == EntityKind::kModel    ? ExprKind::kCallModel
                          : target->kind == EntityKind::kRemote ? ExprKind::kCallRemote
                                                                : ExprKind::kCallExtern;
    const auto result = env_.results.find({call, target->index});
    const Origin origin{target->span, "declared here", result == env_.results.end() ? nullptr : result->second};
    Where inside = At("a stub", stub.target.span).Inside("a stub", stub.target.span).For(&origin);
    inside.holder = Where::Holder::kNone;
    inside.instead = "a stub answers at once, from its parameters and constants";
    ExprPtr value = CheckExpr(inner, *stub.value, *solved, inside);
    if (!IsPoison(*value)) value = Coerce(inner, std::move(value), hint, origin);
    if (IsPoison(*value)) return false;
    const auto once = [&](const Test::Stub& other) { return other.call == call && other.target == target->index; };
    if (const auto first = std::find_if(test_.stubs.begin(), test_.stubs.end(), once); first != test_.stubs.end()) {
      env_.Report(stub.target.span, kDuplicateName, {ast::ToString(stub.target)})
          .Label(env_.program.functions[first->function].span, "first replaced here");
      return false;
    }
    Settle(inner, *value, mark);
    test_.stubs.push_back({call, target->index, static_cast<uint32_t>(env_.program.functions.size())});
    Function function{.name = "stub " + target->name, .locals = inner.locals, .n_params = static_cast<uint32_t>(stub.params.size())};
    function.result = value->type;
    function.body = std::move(value);
    function.may_fail = true;
    function.span = stub.span;
    env_.program.functions.push_back(std::move(function));
    return true;
  }

  // `stub meta("lang") = "de";`: known when compiled, as what a client sends is text.
  bool StubOfMetadata(const ast::StubStmt& stub) {
    const std::string& key = *stub.key;
    if (ast::ToString(stub.target) != "meta") {
      env_.Report(stub.key_span, kWrongKind, {"\"" + key + "\"", "a text", "a list of parameters"})
          .Help("a stub says what it is given, as the model does: `stub " + ast::ToString(stub.target) + "(x: f32[n]) = ..;`");
      return false;
    }
    if (!env_.metadata.contains(key) && !IsDamaged(body_.module)) {
      const Span name{stub.key_span.file, stub.key_span.begin + 1, stub.key_span.end - 1};
      env_.Report(name, kUnknownName, {key})
          .DidYouMean(name, key, {env_.metadata.begin(), env_.metadata.end()})
          .Help("no workflow above reads it: `meta(\"" + key + "\", default)`");
      return false;
    }
    Body inner(env_, body_.module, &decl_);
    inner.around = &body_;
    const ExprPtr text = ToText(inner, CheckExpr(inner, *stub.value, nullptr, At("a stub", stub.key_span).Inside("a stub", stub.key_span)));
    const auto value = IsPoison(*text) ? std::nullopt : ValueOf(env_, *text, "a stub of metadata");
    if (!value) return false;
    const auto [first, is_new] = metadata_.try_emplace(key, stub.key_span);
    if (!is_new) env_.Report(stub.key_span, kDuplicateName, {key}).Label(first->second, "first replaced here");
    test_.metadata.emplace(key, *value->text);
    return is_new;
  }

  void Finish() {
    test_.name = decl_.title;
    test_.span = decl_.span;
    Workflow& workflow = test_.workflow;
    workflow.name = "test";
    workflow.span = decl_.span;
    Stmt reply;
    reply.kind = StmtKind::kReturn;
    reply.span = decl_.span;
    for (const LocalId local : results_) {
      const std::string name = "s" + std::to_string(workflow.results.size());
      workflow.results.push_back({name, body_.locals[local].type});
      workflow.result_wire_names.push_back(name);
      reply.results.push_back(Read(local, decl_.span));
    }
    workflow.body.push_back(std::move(reply));
    workflow.locals = body_.locals;
    std::vector<int> written(workflow.body.size(), -1);
    FinishGraph(env_, workflow, written);
  }

  Env& env_;
  const ast::TestDecl& decl_;
  Body body_;
  OutcomeMaker outcomes_;
  Test test_;
  std::map<std::string, Span> metadata_;  // where it is replaced
  std::vector<LocalId> results_;
  bool sound_ = true;
};

}  // namespace

void CheckTest(Env& env, Module& module, const ast::TestDecl& decl) { TestCheck(env, module, decl).Run(); }

}  // namespace wf::sema
