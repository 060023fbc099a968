// Tests: type-checked with the program, built by no command yet (semantics.md 36).

#include "compiler/sema/check_call.h"
#include "compiler/sema/check_decl.h"
#include "compiler/sema/names.h"

namespace wf::sema {
namespace {

Where InTest(const ast::TestDecl& test) {
  Where where;
  where.files = where.test = where.may_wait = true;
  where.what = "a test";
  where.span = test.span;
  return where;
}

// A stub has the parameters of what it replaces, by name and in order, and yields its result.
void CheckStub(Body& outer, const ast::StubStmt& stub, const ast::TestDecl& test) {
  Env& env = outer.env;
  Entity* target = Lookup(env, outer.module, stub.target, &test, {NameUse::kModel, nullptr});
  Body body(env, outer.module, &test);
  body.silenced = true;
  const Scope scope(body);
  Signature written;
  ReadSignature(body, stub.params, nullptr, written);
  if (target == nullptr) return;
  if (target->kind != EntityKind::kModel && target->kind != EntityKind::kRemote) {
    env.Report(stub.target.span, kStubTarget, {NameOf(target->kind)}).Label(target->span, "declared here");
    return;
  }
  const Signature& wanted = *target->signature;
  if (wanted.broken) return;
  if (wanted.params.size() != written.params.size()) {
    const std::string count = std::to_string(written.params.size()) + (written.params.size() == 1 ? " parameter" : " parameters");
    env.Report(stub.target.span, kStubSignature,
               {target->name, count, target->kind == EntityKind::kModel ? "model" : "remote", std::to_string(wanted.params.size())})
        .Label(target->span, "declared here");
    return;
  }
  for (size_t i = 0; i < wanted.params.size(); ++i) {
    std::vector<DimPair> pairs;
    const TypeRef found = written.params[i].type;
    if (found->kind == TypeKind::kError || MatchTypes(env.types, wanted.params[i].type, found, nullptr, pairs)) continue;
    env.Report(stub.params[i].span, kTypeMismatch, {ToString(wanted.params[i].type), ToString(found)}).Label(target->span, "declared here");
  }
  Signature result;
  result.name = target->name;
  result.result = wanted.result;
  ForEachDim(wanted.result, [&](const Dim& dim) {  // shapes are compared when the test runs
    for (std::string& symbol : dim.Symbols()) result.result_symbols.push_back(std::move(symbol));
  });
  const TypeRef hint = MapDims(env.types, wanted.result, [](const Dim& dim) { return dim.is_constant() ? dim : AnyDim(); });
  Where where = InTest(test);
  ExprPtr value = CheckExpr(body, *stub.value, hint, where);
  if (!IsPoison(*value)) Coerce(body, std::move(value), hint, Origin{target->span, "declared here"});
}

void CheckExpect(Body& body, const ast::ExpectStmt& expect, const Where& where) {
  if (!expect.fails) {
    CheckAs(body, *expect.value, body.env.types.Scalar(DType::kBool), where);
    return;
  }
  CheckExpr(body, *expect.value, nullptr, where);
  if (expect.fails->parts.size() == 1) {
    ast::NameExpr name(expect.fails->span);
    name.name = expect.fails->parts[0].text;
    CheckRaised(body, name, where);
    return;
  }
  const Entity* error = Lookup(body.env, body.module, *expect.fails, body.self, {NameUse::kError, nullptr});
  if (error != nullptr && error->kind != EntityKind::kError) {
    body.env.Report(expect.fails->span, kNotAnError, {NameOf(error->kind)}).Label(error->span, "declared here");
  }
}

}  // namespace

void CheckTest(Env& env, Module& module, const ast::TestDecl& decl) {
  Body body(env, module, &decl);
  const Where where = InTest(decl);
  const Scope scope(body, decl.body);
  for (const ast::StmtPtr& stmt : decl.body) {
    if (const auto* let = ast::DynAs<ast::LetStmt>(*stmt)) {
      CheckLet(body, *let, where);
    } else if (const auto* stub = ast::DynAs<ast::StubStmt>(*stmt)) {
      CheckStub(body, *stub, decl);
    } else if (const auto* expect = ast::DynAs<ast::ExpectStmt>(*stmt)) {
      CheckExpect(body, *expect, where);
    } else {
      body.silenced = true;
    }
  }
}

}  // namespace wf::sema
