#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/format/cursor.h"
#include "compiler/format/doc.h"

namespace wf::format {

// One rule for each construct: the tree says what stands next, the cursor gives its tokens.
// Brackets: what stands between them is on one line if it fits and the author did not break the line after the opening one.
// Borrows: file, sources, docs.
class Layout {
 public:
  Layout(const ast::File& file, const source::SourceMap& sources, Docs& docs) : file_(file), docs_(docs), at_(file, sources, docs) {}

  Doc File();

 private:
  using Rule = std::function<Doc(size_t)>;  // the element of that number
  struct Braces {
    size_t count = 0;
    bool always_broken = false;
    bool with_group = false;  // broken when the group around is, and with it
  };
  struct Brackets {
    std::string_view open, close;
    size_t count;
    bool trailing_comma = true;
    bool hug = false;   // the only element brings brackets of its own
    bool fill = false;  // several elements on a line
  };

  // layout.cc: declarations and settings
  Doc Decl(const ast::Decl& decl);
  Doc Import(const ast::ImportDecl& decl);
  Doc Const(const ast::ConstDecl& decl);
  Doc TypeDeclaration(const ast::TypeDecl& decl);
  Doc ErrorCode(const ast::ErrorCodeDecl& decl);
  Doc Fn(const ast::FnDecl& decl);
  Doc Extern(const ast::ExternDecl& decl);
  Doc Model(const ast::ModelDecl& decl);
  Doc Remote(const ast::RemoteDecl& decl);
  Doc Workflow(const ast::WorkflowDecl& decl);
  Doc Service(const ast::ServiceDecl& decl);
  Doc Test(const ast::TestDecl& decl);
  Doc Binding(const ast::Binding& binding);
  Doc Settings(const ast::Settings& settings);
  Doc Setting(const ast::Setting& setting);
  Doc SettingArg(const ast::SettingArg& arg);
  Doc TypeParams(const std::vector<ast::Name>& names);
  Doc Params(const std::vector<ast::Param>& params);
  Doc Type(const ast::Type& type);
  Doc TypeField(const ast::Type::Field& field);
  Doc Dims();

  // statements.cc
  Doc Body(const std::vector<ast::StmtPtr>& body);
  Doc Stmt(const ast::Stmt& stmt);
  Doc Node(const ast::NodeStmt& node);
  Doc Stage(const ast::StageStmt& stage);
  Doc If(const ast::IfStmt& stmt);
  Doc Stub(const ast::StubStmt& stub);
  Doc Expect(const ast::ExpectStmt& expect);
  Doc Else(const ast::ExprPtr& otherwise);
  Doc Block(const ast::Block& block, Braces braces);

  // expressions.cc
  Doc Expr(const ast::Expr& expr);
  Doc Leaf(const ast::Expr& expr);
  Doc Postfix(Doc object, const ast::Expr& step);
  Doc Unary(const ast::UnaryExpr& expr);
  Doc Lambda(const ast::LambdaExpr& lambda);
  Doc List(const ast::ListExpr& list);
  Doc Comprehension(const ast::ComprehensionExpr& list);
  Doc Tuple(const ast::TupleExpr& tuple);
  Doc Paren(const ast::ParenExpr& paren);
  Doc IfValue(const ast::IfExpr& expr);
  Doc Match(const ast::MatchExpr& match);
  Doc Arm(const ast::MatchExpr::Arm& arm);
  Doc For(const ast::ForExpr& loop);
  Doc Fold(const ast::FoldExpr& fold);
  Doc Arguments(const std::vector<ast::Argument>& arguments);
  Doc Subscript(const ast::Subscript& subscript);
  Doc Indented(const ast::Expr& expr);  // after `=`, `=>`: on the same line when it brings brackets, else on one of its own if it must

  // brackets.cc
  Doc Braced(const Braces& braces, const Rule& rule);
  Doc Bracketed(const Brackets& brackets, const Rule& rule);
  Doc Names();
  Doc Words(size_t count);  // tokens with spaces between them
  Doc Path(const ast::Path& path);
  Doc Token(std::string_view text) { return at_.Take(text); }
  Doc Space() { return docs_.Text(" "); }
  Doc Concat(std::vector<Doc> parts) { return docs_.Concat(std::move(parts)); }

  const ast::File& file_;
  Docs& docs_;
  Cursor at_;
};

}  // namespace wf::format
