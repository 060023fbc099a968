// Statements, nodes and settings.

#include "compiler/parse/build.h"
#include "compiler/parse/units.h"

namespace wf::parse {
namespace {

// The word that an argument is, or nothing.
std::string_view WordOf(const ast::SettingArg& arg) {
  const bool is_word = arg.kind == ast::SettingArg::Kind::kPath && arg.path.parts.size() == 1;
  return is_word ? std::string_view(arg.path.parts.front().text) : std::string_view();
}

}  // namespace

ast::StmtPtr TreeBuilder::FailedStmt(const antlr4::ParserRuleContext& ctx) { return std::make_unique<ast::ErrorStmt>(SpanOfRule(ctx)); }

std::vector<ast::StmtPtr> TreeBuilder::Body(P::BodyContext& ctx) {
  std::vector<ast::StmtPtr> body;
  for (P::StmtContext* stmt : ctx.stmt()) body.push_back(Stmt(*stmt));
  if (Failed(ctx)) body.push_back(FailedStmt(ctx));
  return body;
}

ast::StmtPtr TreeBuilder::Stmt(P::StmtContext& ctx) {
  if (Failed(ctx)) return FailedStmt(ctx);
  if (ctx.letStmt() != nullptr) return Let(*ctx.letStmt());
  if (ctx.requireStmt() != nullptr) return Require(*ctx.requireStmt());
  if (ctx.nodeStmt() != nullptr) return Node(*ctx.nodeStmt());
  if (ctx.stageStmt() != nullptr) return Stage(*ctx.stageStmt());
  if (ctx.ifStmt() != nullptr) return If(*ctx.ifStmt());
  if (auto* call = ctx.callStmt()) {
    auto stmt = std::make_unique<ast::CallStmt>(SpanOfRule(ctx));
    stmt->callee = PathOf(*call->path());
    stmt->arguments = Arguments(call->args());
    return stmt;
  }
  if (auto* fail = ctx.failStmt()) {
    auto stmt = std::make_unique<ast::FailStmt>(SpanOfRule(ctx));
    stmt->error = Expr(*fail->expr());
    return stmt;
  }
  auto stmt = std::make_unique<ast::ReturnStmt>(SpanOfRule(ctx));
  stmt->value = Expr(*ctx.returnStmt()->expr());
  return stmt;
}

ast::StmtPtr TreeBuilder::Let(P::LetStmtContext& ctx) {
  if (Failed(ctx)) return FailedStmt(ctx);
  auto stmt = std::make_unique<ast::LetStmt>(SpanOfRule(ctx));
  stmt->name = NameOf(ctx.NAME());
  if (ctx.type() != nullptr) stmt->type = TypeOf(*ctx.type());
  stmt->value = Expr(*ctx.expr());
  return stmt;
}

ast::StmtPtr TreeBuilder::Require(P::RequireStmtContext& ctx) {
  if (Failed(ctx)) return FailedStmt(ctx);
  auto stmt = std::make_unique<ast::RequireStmt>(SpanOfRule(ctx));
  stmt->condition = Expr(*ctx.expr(0));
  if (ctx.KW_ELSE() != nullptr) stmt->otherwise = Expr(*ctx.expr(1));
  return stmt;
}

ast::StmtPtr TreeBuilder::Node(P::NodeStmtContext& ctx) {
  if (Failed(ctx)) return FailedStmt(ctx);
  auto stmt = std::make_unique<ast::NodeStmt>(SpanOfRule(ctx));
  stmt->name = NameOf(ctx.NAME());
  if (ctx.type() != nullptr) stmt->type = TypeOf(*ctx.type());
  stmt->value = Expr(*ctx.expr(0));
  if (ctx.settings() != nullptr) stmt->settings = SettingsOf(*ctx.settings());
  if (ctx.KW_ELSE() != nullptr) stmt->fallback = Expr(*ctx.expr(1));
  return stmt;
}

ast::StmtPtr TreeBuilder::Stage(P::StageStmtContext& ctx) {
  auto stmt = std::make_unique<ast::StageStmt>(SpanOfRule(ctx));
  stmt->name = NameOf(ctx.NAME());
  for (P::NodeStmtContext* node : ctx.stageBody()->nodeStmt()) stmt->nodes.push_back(Node(*node));
  if (Failed(*ctx.stageBody())) stmt->nodes.push_back(FailedStmt(*ctx.stageBody()));
  if (ctx.settings() != nullptr) stmt->settings = SettingsOf(*ctx.settings());
  return stmt;
}

ast::StmtPtr TreeBuilder::If(P::IfStmtContext& ctx) {
  auto stmt = std::make_unique<ast::IfStmt>(SpanOfRule(ctx));
  const auto conditions = ctx.expr();
  const auto bodies = ctx.body();
  for (size_t arm = 0; arm < conditions.size(); ++arm) {
    const source::Span span = source::Join(SpanOfRule(*conditions[arm]), SpanOfRule(*bodies[arm]));
    stmt->arms.push_back({Expr(*conditions[arm]), Body(*bodies[arm]), span});
  }
  if (bodies.size() > conditions.size()) stmt->otherwise = Body(*bodies.back());
  return stmt;
}

ast::StmtPtr TreeBuilder::TestItem(P::TestItemContext& ctx) {
  if (Failed(ctx)) return FailedStmt(ctx);
  if (ctx.letStmt() != nullptr) return Let(*ctx.letStmt());
  if (auto* stub = ctx.stubStmt()) {
    auto stmt = std::make_unique<ast::StubStmt>(SpanOfRule(ctx));
    stmt->target = PathOf(*stub->path());
    if (stub->params() != nullptr) {
      stmt->params = Params(*stub->params());
    } else {
      stmt->key = Plain(stub->STRING());
      stmt->key_span = SpanOfToken(static_cast<const Token&>(*stub->STRING()->getSymbol()));
    }
    stmt->value = Expr(*stub->expr());
    return stmt;
  }
  auto stmt = std::make_unique<ast::ExpectStmt>(SpanOfRule(ctx));
  stmt->value = Expr(*ctx.expectStmt()->expr());
  if (auto* path = ctx.expectStmt()->path()) stmt->fails = PathOf(*path);
  return stmt;
}

ast::Settings TreeBuilder::SettingsOf(P::SettingsContext& ctx) {
  ast::Settings settings;
  settings.span = SpanOfRule(ctx);
  Failed(ctx);
  for (P::SettingContext* setting : ctx.setting()) {
    if (!Failed(*setting)) settings.settings.push_back(SettingOf(*setting));
  }
  return settings;
}

ast::Setting TreeBuilder::SettingOf(P::SettingContext& ctx) {
  ast::Setting setting{NameOf(ctx.NAME()), {}, SpanOfRule(ctx)};
  for (P::SetArgContext* arg : ctx.setArg()) {
    setting.args.push_back(SettingArgOf(*arg));
    const size_t at = setting.args.size() - 1;
    if (at > 0)
      ReportUnitApart(at == 1 ? std::string_view(setting.name.text) : WordOf(setting.args[at - 2]), setting.args[at - 1], setting.args[at]);
  }
  return setting;
}

// `timeout 2 ms` reads as a number and a word. `before`: the word before them.
void TreeBuilder::ReportUnitApart(std::string_view before, const ast::SettingArg& number, const ast::SettingArg& unit) {
  using Kind = ast::SettingArg::Kind;
  const bool is_plain = number.kind == Kind::kNumber && number.number_kind != ast::NumberKind::kMeasure &&
                        number.text.find_first_not_of("0123456789_.") == std::string::npos;  // as `0x10` and `1e3` are not
  const std::string meant = is_plain && number.span.end < unit.span.begin ? MeasureBehind(before, number.text, WordOf(unit)) : "";
  if (meant.empty()) return;
  const source::Span both = source::Join(number.span, unit.span);
  const std::string joined = (number.negative ? "-" : "") + meant;
  Report(both, diag::kUnitApart, {joined}).Fix(both, joined);
}

ast::SettingArg TreeBuilder::SettingArgOf(P::SetArgContext& ctx) {
  using Kind = ast::SettingArg::Kind;
  ast::SettingArg arg;
  arg.span = SpanOfRule(ctx);
  if (ctx.number != nullptr) {
    const size_t type = ctx.number->getType();
    arg.kind = Kind::kNumber;
    arg.negative = ctx.MINUS() != nullptr;
    arg.number_kind = type == T::INT ? ast::NumberKind::kInt : type == T::FLOAT ? ast::NumberKind::kFloat : ast::NumberKind::kMeasure;
    arg.text = Spelling(*ctx.number);
    if (LacksDigits(arg.number_kind, arg.text)) Report(arg.span, diag::kUnexpectedToken, {"`" + arg.text + "`", kHexDigits});
  } else if (ctx.STRING() != nullptr) {
    arg.kind = Kind::kString;
    arg.text = Plain(ctx.STRING());
  } else if (ctx.path() != nullptr) {
    arg.kind = ctx.call != nullptr ? Kind::kCall : Kind::kPath;
    arg.path = PathOf(*ctx.path());
    arg.arguments = Arguments(ctx.args());
  } else if (ctx.list() != nullptr) {
    arg.kind = Kind::kList;
    arg.list = List(*ctx.list());
  } else {
    arg.kind = Kind::kMap;
    for (P::WeightContext* weight : ctx.weight()) {
      arg.entries.emplace_back(NameOf(weight->NAME()), Spelling(*weight->INT()->getSymbol()));
    }
  }
  return arg;
}

}  // namespace wf::parse
