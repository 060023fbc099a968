// Statements and the blocks of expressions.

#include "compiler/format/layout.h"
#include "runtime/base/check.h"

namespace wf::format {

using ast::StmtKind;

Doc Layout::Body(const std::vector<ast::StmtPtr>& body) {
  return Braced({.count = body.size(), .always_broken = true}, [&](size_t number) { return Stmt(*body[number]); });
}

Doc Layout::Stmt(const ast::Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kErrorStmt:
      WF_CHECK(false);  // only files without errors are formatted
    case StmtKind::kLetStmt: {
      const auto& let = *ast::DynAs<ast::LetStmt>(stmt);
      const Doc head = Words(2);
      const Doc type = let.type == nullptr ? docs_.Empty() : Concat({Token(":"), Space(), Type(*let.type)});
      return Concat({head, type, Space(), Token("="), Indented(*let.value), at_.Close(";")});
    }
    case StmtKind::kRequireStmt: {
      const auto& require = *ast::DynAs<ast::RequireStmt>(stmt);
      return Concat({Token("require"), Space(), Expr(*require.condition), Else(require.otherwise), at_.Close(";")});
    }
    case StmtKind::kNodeStmt:
      return Node(*ast::DynAs<ast::NodeStmt>(stmt));
    case StmtKind::kStageStmt:
      return Stage(*ast::DynAs<ast::StageStmt>(stmt));
    case StmtKind::kIfStmt:
      return If(*ast::DynAs<ast::IfStmt>(stmt));
    case StmtKind::kCallStmt: {
      const auto& call = *ast::DynAs<ast::CallStmt>(stmt);
      return Concat({Path(call.callee), Arguments(call.arguments), at_.Close(";")});
    }
    case StmtKind::kReturnStmt:
      return Concat({Token("return"), Space(), Expr(*ast::DynAs<ast::ReturnStmt>(stmt)->value), at_.Close(";")});
    case StmtKind::kFailStmt:
      return Concat({Token("fail"), Space(), Expr(*ast::DynAs<ast::FailStmt>(stmt)->error), at_.Close(";")});
    case StmtKind::kStubStmt:
      return Stub(*ast::DynAs<ast::StubStmt>(stmt));
    case StmtKind::kExpectStmt:
      return Expect(*ast::DynAs<ast::ExpectStmt>(stmt));
  }
  WF_CHECK(false, static_cast<int>(stmt.kind));
}

Doc Layout::Else(const ast::ExprPtr& otherwise) {
  if (otherwise == nullptr) return docs_.Empty();
  return docs_.Group(docs_.Nest(Concat({docs_.Line(), Token("else"), Space(), Expr(*otherwise)})));
}

Doc Layout::Node(const ast::NodeStmt& node) {
  const Doc head = Words(2);
  const Doc type = node.type == nullptr ? docs_.Empty() : Concat({Token(":"), Space(), Type(*node.type)});
  const Doc value = Concat({head, type, Space(), Token("="), Indented(*node.value)});
  if (!node.settings) return Concat({value, Else(node.fallback), at_.Close(";")});
  const Doc settings = Concat({value, Space(), Settings(*node.settings)});
  if (node.fallback == nullptr) return settings;
  return Concat({settings, Space(), Token("else"), Space(), Expr(*node.fallback), at_.Close(";")});
}

Doc Layout::Stage(const ast::StageStmt& stage) {
  const Doc head = Words(2);
  const Doc nodes = Body(stage.nodes);
  return stage.settings ? Concat({head, Space(), nodes, Space(), Settings(*stage.settings)}) : Concat({head, Space(), nodes});
}

// All bodies of one `if` are broken or none; one of several statements is.
Doc Layout::If(const ast::IfStmt& stmt) {
  std::vector<Doc> parts;
  bool broken = false;
  const auto body = [&](const std::vector<ast::StmtPtr>& statements) {
    broken = broken || statements.size() > 1;
    parts.push_back(Space());
    parts.push_back(Braced({.count = statements.size(), .with_group = true}, [&](size_t number) { return Stmt(*statements[number]); }));
  };
  for (size_t arm = 0; arm < stmt.arms.size(); ++arm) {
    if (arm > 0) parts.push_back(Concat({Space(), Token("else"), Space()}));
    parts.push_back(Concat({Token("if"), Space(), Expr(*stmt.arms[arm].condition)}));
    body(stmt.arms[arm].body);
  }
  if (stmt.otherwise) {
    parts.push_back(Concat({Space(), Token("else")}));
    body(*stmt.otherwise);
  }
  return docs_.Group(Concat(std::move(parts)), broken);
}

Doc Layout::Stub(const ast::StubStmt& stub) {
  const Doc head = Concat({Token("stub"), Space(), Path(stub.target)});
  const Doc given = stub.key ? Concat({Token("("), at_.Take(), Token(")")}) : Params(stub.params);
  return Concat({head, given, Space(), Token("="), Indented(*stub.value), at_.Close(";")});
}

Doc Layout::Expect(const ast::ExpectStmt& expect) {
  const Doc head = Concat({Token("expect"), Space(), Expr(*expect.value)});
  const Doc fails =
      expect.fails ? docs_.Group(docs_.Nest(Concat({docs_.Line(), Token("fails"), Space(), Path(*expect.fails)}))) : docs_.Empty();
  return Concat({head, fails, at_.Close(";")});
}

Doc Layout::Block(const ast::Block& block, Braces braces) {
  braces.count = block.statements.size() + 1;
  return Braced(braces, [&](size_t number) {
    if (number < block.statements.size()) return Stmt(*block.statements[number]);
    return Concat({Expr(*block.value), Else(block.fallback)});
  });
}

}  // namespace wf::format
