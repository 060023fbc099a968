#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/diag/emitter.h"
#include "compiler/parse/strings.h"
#include "compiler/parse/tokens.h"
#include "grammar/WfParser.h"

namespace wf::parse {

// Turns the parse tree of one file into its AST. Recursion is bounded by limits.h; chains of operators are walked, not recursed into.
// Borrows: text, tokens, emitter.
class TreeBuilder {
 public:
  using P = grammar::WfParser;
  TreeBuilder(const Text& text, const TokenList& tokens, diag::Emitter& emitter) : text_(text), tokens_(tokens), emitter_(emitter) {}

  ast::File File(P::FileContext& ctx);

 private:
  // build_decl.cc
  ast::DeclPtr Decl(P::DeclContext& ctx);
  ast::DeclPtr FailedDecl(P::DeclContext& ctx);
  ast::DeclPtr DeclOfRule(antlr4::ParserRuleContext& rule, const source::Span& span);
  ast::DeclPtr Import(P::ImportDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Const(P::ConstDeclContext& ctx, const source::Span& span);
  ast::DeclPtr TypeDeclaration(P::TypeDeclContext& ctx, const source::Span& span);
  ast::DeclPtr ErrorCode(P::ErrorDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Fn(P::FnDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Extern(P::ExternDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Model(P::ModelDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Remote(P::RemoteDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Workflow(P::WorkflowDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Service(P::ServiceDeclContext& ctx, const source::Span& span);
  ast::DeclPtr Test(P::TestDeclContext& ctx, const source::Span& span);
  ast::Binding BindingOf(P::BindingContext& ctx);
  std::string DocAbove(const Token& first) const;

  // build_type.cc
  ast::TypePtr TypeOf(P::TypeContext& ctx);
  ast::DimExpr Dim(P::DimContext& ctx);
  ast::DimExpr DimLeaf(P::DimContext& ctx);
  const std::set<std::string>& Constants(antlr4::tree::ParseTree& at);
  bool NamesDimension(const std::string& name, antlr4::tree::ParseTree& at);
  void ReportMeasureAsDim(const ast::DimExpr& dim, P::DimContext& ctx);
  std::vector<ast::Param> Params(P::ParamsContext& ctx);
  std::vector<ast::Name> TypeParams(P::TypeParamsContext* ctx);

  // build_stmt.cc
  std::vector<ast::StmtPtr> Body(P::BodyContext& ctx);
  ast::StmtPtr Stmt(P::StmtContext& ctx);
  ast::StmtPtr Let(P::LetStmtContext& ctx);
  ast::StmtPtr Require(P::RequireStmtContext& ctx);
  ast::StmtPtr Node(P::NodeStmtContext& ctx);
  ast::StmtPtr Stage(P::StageStmtContext& ctx);
  ast::StmtPtr If(P::IfStmtContext& ctx);
  ast::StmtPtr TestItem(P::TestItemContext& ctx);
  ast::StmtPtr FailedStmt(const antlr4::ParserRuleContext& ctx);
  ast::Settings SettingsOf(P::SettingsContext& ctx);
  ast::Setting SettingOf(P::SettingContext& ctx);
  ast::SettingArg SettingArgOf(P::SetArgContext& ctx);
  void ReportUnitApart(std::string_view before, const ast::SettingArg& number, const ast::SettingArg& unit);

  // build_expr.cc
  ast::ExprPtr Expr(P::ExprContext& ctx);
  ast::ExprPtr Lambda(ast::ExprPtr left, P::ExprContext& ctx);
  ast::ExprPtr Op(P::OpContext& ctx);
  ast::ExprPtr OpLeaf(P::OpContext& ctx);
  ast::ExprPtr OpStep(ast::ExprPtr left, P::OpContext& ctx);
  ast::ExprPtr Binary(ast::ExprPtr left, P::OpContext& ctx);
  ast::ExprPtr Primary(P::PrimaryContext& ctx);
  ast::ExprPtr Literal(const Token& token);
  bool FollowsOpenHole(const Token& token) const;
  ast::ExprPtr List(P::ListContext& ctx);
  ast::ExprPtr Tuple(P::TupleContext& ctx);
  ast::ExprPtr IfValue(P::IfExprContext& ctx);
  ast::ExprPtr Match(P::MatchExprContext& ctx);
  ast::Pattern PatternOf(P::PatternContext& ctx);
  ast::Block BlockOf(P::BlockContext& ctx);
  std::vector<ast::Argument> Arguments(P::ArgsContext* ctx);
  std::vector<ast::Subscript> Subscripts(P::OpContext& ctx);

  // small parts
  source::Span SpanOfRule(const antlr4::ParserRuleContext& ctx) const;
  source::Span SpanOfToken(const Token& token) const { return SpanOf(text_, token); }
  std::string Spelling(const Token& token) const { return std::string(TextOf(text_, token)); }
  ast::Name NameOf(antlr4::tree::TerminalNode* node) const;
  ast::Name LabelOf(P::LabelContext& ctx) const;
  std::vector<ast::Name> NamesOf(P::NamesContext& ctx) const;
  ast::Path PathOf(P::PathContext& ctx) const;
  std::string Plain(antlr4::tree::TerminalNode* node) const;
  std::string ConstantText(const Token& token);
  std::optional<std::string> PlainIf(antlr4::tree::TerminalNode* node) const;
  std::optional<std::string> ExternalName(antlr4::tree::TerminalNode* node);  // of a parameter or a field
  bool Failed(const antlr4::ParserRuleContext& ctx);
  diag::Builder Report(const source::Span& span, diag::Code code, std::initializer_list<diag::Argument> arguments = {});

  const Text& text_;
  const TokenList& tokens_;
  diag::Emitter& emitter_;
  std::vector<ast::Comment> comments_;
  Holes holes_ = Holes::kRead;  // kNone inside of bindings, where strings are names and paths
  bool decl_has_errors_ = false;
  // Collected where a mistake asks for them.
  std::optional<std::set<std::string>> constants_;
  const antlr4::tree::ParseTree* dimensions_of_ = nullptr;  // the declaration of `dimensions_`
  std::set<std::string> dimensions_;
};

}  // namespace wf::parse
