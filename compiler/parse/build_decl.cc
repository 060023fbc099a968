// Declarations.

#include <algorithm>

#include "compiler/parse/build.h"
#include "runtime/base/check.h"

namespace wf::parse {

using source::Span;

ast::File TreeBuilder::File(P::FileContext& ctx) {
  ast::File file;
  file.id = text_.file;
  file.skipped_text = Failed(ctx);
  if (auto* package = ctx.packageDecl(); package != nullptr && !Failed(*package)) file.package = PathOf(*package->path());
  for (P::DeclContext* decl : ctx.decl()) file.decls.push_back(Decl(*decl));
  file.comments = tokens_.comments;
  file.tokens = SpansOf(text_, tokens_);
  return file;
}

ast::DeclPtr TreeBuilder::Decl(P::DeclContext& ctx) {
  decl_has_errors_ = false;
  const size_t errors_before = emitter_.error_count();
  ast::DeclPtr decl;
  auto* workflow = ctx.workflowDecl();
  const bool headless = workflow != nullptr && workflow->workflowHead() != nullptr && Failed(*workflow->workflowHead());
  if (Failed(ctx) || headless || ctx.children.empty()) {
    decl = FailedDecl(ctx);
  } else {
    decl = DeclOfRule(static_cast<antlr4::ParserRuleContext&>(*ctx.children.front()), SpanOfRule(ctx));
  }
  const size_t first = ctx.getStart()->getTokenIndex();
  const size_t last = std::max(first, ctx.getStop() == nullptr ? first : ctx.getStop()->getTokenIndex());
  decl->has_errors = decl_has_errors_ || emitter_.error_count() != errors_before || tokens_.DamagedWithin(first, last);
  decl->doc = DocAbove(*ctx.getStart());
  return decl;
}

// A declaration that did not parse keeps its name, if that was read, so that uses of the name stay silent.
ast::DeclPtr TreeBuilder::FailedDecl(P::DeclContext& ctx) {
  auto decl = std::make_unique<ast::ErrorDecl>(SpanOfRule(ctx));
  if (!ctx.children.empty()) {
    if (auto* rule = dynamic_cast<antlr4::ParserRuleContext*>(ctx.children.front())) {
      if (auto* name = rule->getToken(P::NAME, 0)) decl->name = NameOf(name);
    }
  }
  return decl;
}

ast::DeclPtr TreeBuilder::DeclOfRule(antlr4::ParserRuleContext& rule, const Span& span) {
  switch (rule.getRuleIndex()) {
    case P::RuleImportDecl:
      return Import(static_cast<P::ImportDeclContext&>(rule), span);
    case P::RuleConstDecl:
      return Const(static_cast<P::ConstDeclContext&>(rule), span);
    case P::RuleTypeDecl:
      return TypeDeclaration(static_cast<P::TypeDeclContext&>(rule), span);
    case P::RuleErrorDecl:
      return ErrorCode(static_cast<P::ErrorDeclContext&>(rule), span);
    case P::RuleFnDecl:
      return Fn(static_cast<P::FnDeclContext&>(rule), span);
    case P::RuleExternDecl:
      return Extern(static_cast<P::ExternDeclContext&>(rule), span);
    case P::RuleModelDecl:
      return Model(static_cast<P::ModelDeclContext&>(rule), span);
    case P::RuleRemoteDecl:
      return Remote(static_cast<P::RemoteDeclContext&>(rule), span);
    case P::RuleWorkflowDecl:
      return Workflow(static_cast<P::WorkflowDeclContext&>(rule), span);
    case P::RuleServiceDecl:
      return Service(static_cast<P::ServiceDeclContext&>(rule), span);
    case P::RuleTestDecl:
      return Test(static_cast<P::TestDeclContext&>(rule), span);
    default:
      WF_CHECK(false, rule.getRuleIndex());
  }
}

ast::DeclPtr TreeBuilder::Import(P::ImportDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::ImportDecl>(span);
  decl->path = PathOf(*ctx.path());
  if (ctx.NAME() != nullptr) decl->name = NameOf(ctx.NAME());
  return decl;
}

ast::DeclPtr TreeBuilder::Const(P::ConstDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::ConstDecl>(span);
  decl->name = NameOf(ctx.NAME());
  if (ctx.type() != nullptr) decl->type = TypeOf(*ctx.type());
  decl->value = Expr(*ctx.expr());
  return decl;
}

ast::DeclPtr TreeBuilder::TypeDeclaration(P::TypeDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::TypeDecl>(span);
  decl->name = NameOf(ctx.NAME());
  Failed(*ctx.typeBody());
  for (P::TypeFieldContext* field : ctx.typeBody()->typeField()) {
    if (Failed(*field)) continue;
    decl->fields.push_back({LabelOf(*field->label()), std::nullopt, TypeOf(*field->type()), SpanOfRule(*field)});
  }
  return decl;
}

ast::DeclPtr TreeBuilder::ErrorCode(P::ErrorDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::ErrorCodeDecl>(span);
  decl->name = NameOf(ctx.NAME(0));
  decl->code = Spelling(*ctx.INT()->getSymbol());
  decl->code_span = SpanOfToken(*ctx.INT()->getSymbol());
  decl->message = Plain(ctx.STRING());
  decl->message_span = SpanOfToken(*ctx.STRING()->getSymbol());
  if (ctx.status != nullptr) decl->status = ast::Name{Spelling(*ctx.status), SpanOfToken(*ctx.status)};
  return decl;
}

ast::DeclPtr TreeBuilder::Fn(P::FnDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::FnDecl>(span);
  decl->name = NameOf(ctx.NAME());
  decl->type_params = TypeParams(ctx.typeParams());
  decl->params = Params(*ctx.params());
  decl->result = TypeOf(*ctx.type());
  if (ctx.block() != nullptr) {
    decl->body = BlockOf(*ctx.block());
  } else {
    decl->body.value = Expr(*ctx.expr());
    decl->body.span = decl->body.value->span;
  }
  return decl;
}

ast::DeclPtr TreeBuilder::Extern(P::ExternDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::ExternDecl>(span);
  decl->name = NameOf(ctx.NAME());
  decl->is_node = ctx.what != nullptr;
  decl->type_params = TypeParams(ctx.typeParams());
  decl->params = Params(*ctx.params());
  decl->result = TypeOf(*ctx.type());
  decl->binding = BindingOf(*ctx.binding());
  return decl;
}

ast::DeclPtr TreeBuilder::Model(P::ModelDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::ModelDecl>(span);
  decl->name = NameOf(ctx.NAME());
  decl->has_signature = ctx.params() != nullptr;
  if (decl->has_signature) {
    decl->params = Params(*ctx.params());
    decl->result = TypeOf(*ctx.type());
  }
  decl->binding = BindingOf(*ctx.binding());
  return decl;
}

ast::DeclPtr TreeBuilder::Remote(P::RemoteDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::RemoteDecl>(span);
  decl->name = NameOf(ctx.NAME());
  decl->params = Params(*ctx.params());
  decl->result = TypeOf(*ctx.type());
  decl->binding = BindingOf(*ctx.binding());
  return decl;
}

ast::DeclPtr TreeBuilder::Workflow(P::WorkflowDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::WorkflowDecl>(span);
  decl->name = NameOf(ctx.NAME());
  decl->params = Params(*ctx.workflowHead()->params());
  decl->result = TypeOf(*ctx.workflowHead()->type());
  decl->signature_span = source::Join(SpanOfToken(*ctx.getStart()), decl->result->span);
  decl->body = Body(*ctx.body());
  return decl;
}

ast::DeclPtr TreeBuilder::Service(P::ServiceDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::ServiceDecl>(span);
  decl->name = NameOf(ctx.NAME());
  Failed(*ctx.serviceBody());
  for (P::ServiceItemContext* item : ctx.serviceBody()->serviceItem()) {
    if (Failed(*item)) continue;
    if (item->setting() == nullptr) {
      ast::ServiceDecl::Member member{item->what != nullptr, PathOf(*item->path()), PlainIf(item->STRING()), SpanOfRule(*item), {}};
      const bool is_named = item->STRING() != nullptr;
      member.name_span = is_named ? SpanOfToken(static_cast<const Token&>(*item->STRING()->getSymbol())) : member.target.span;
      decl->members.push_back(std::move(member));
    } else if (!Failed(*item->setting())) {
      decl->settings.push_back(SettingOf(*item->setting()));
    }
  }
  return decl;
}

ast::DeclPtr TreeBuilder::Test(P::TestDeclContext& ctx, const Span& span) {
  auto decl = std::make_unique<ast::TestDecl>(span);
  decl->title = Plain(ctx.STRING());
  decl->title_span = SpanOfToken(static_cast<const Token&>(*ctx.STRING()->getSymbol()));
  Failed(*ctx.testBody());
  for (P::TestItemContext* item : ctx.testBody()->testItem()) decl->body.push_back(TestItem(*item));
  return decl;
}

ast::Binding TreeBuilder::BindingOf(P::BindingContext& ctx) {
  ast::Binding binding;
  binding.function = NameOf(ctx.NAME());
  const Holes outer = std::exchange(holes_, Holes::kNone);
  binding.arguments = Arguments(ctx.args());
  holes_ = outer;
  if (ctx.settings() != nullptr) binding.settings = SettingsOf(*ctx.settings());
  binding.span = SpanOfRule(ctx);
  return binding;
}

// The `///` lines that end right above `first`, without slashes and the space after them. What stands behind code on its line is of that.
std::string TreeBuilder::DocAbove(const Token& first) const {
  const auto& comments = tokens_.comments;
  uint32_t below = SpanOfToken(first).begin;
  auto after = std::lower_bound(comments.begin(), comments.end(), below,
                                [](const ast::Comment& comment, uint32_t byte) { return comment.span.begin < byte; });
  const size_t number = first.getTokenIndex();
  const size_t code_end = number == 0 ? 0 : SpanOfToken(*tokens_.all[number - 1]).end;
  std::vector<std::string_view> lines;  // from the last on
  while (after != comments.begin()) {
    const ast::Comment& comment = *--after;
    const std::string_view between = text_.bytes.substr(comment.span.end, below - comment.span.end);
    const bool adjacent =
        between.find_first_not_of(" \t\r\n") == std::string_view::npos && std::count(between.begin(), between.end(), '\n') == 1;
    if (!adjacent || !comment.text.starts_with("///")) break;
    const bool is_behind_code =
        number > 0 && text_.bytes.substr(code_end, comment.span.begin - code_end).find('\n') == std::string_view::npos;
    if (is_behind_code) break;
    const std::string_view line = std::string_view(comment.text).substr(3);
    lines.push_back(line.starts_with(' ') ? line.substr(1) : line);
    below = comment.span.begin;
  }
  std::string doc;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) doc.append(*line).append(line + 1 == lines.rend() ? "" : "\n");
  return doc;
}

// ---- small parts ----

Span TreeBuilder::SpanOfRule(const antlr4::ParserRuleContext& ctx) const {
  auto& rule = const_cast<antlr4::ParserRuleContext&>(ctx);  // ANTLR's accessors are not const
  const Span first = SpanOfToken(*rule.getStart());
  const Token* stop = rule.getStop();
  if (stop == nullptr || stop->getTokenIndex() < rule.getStart()->getTokenIndex()) return first;
  return source::Join(first, SpanOfToken(*stop));
}

bool TreeBuilder::Failed(const antlr4::ParserRuleContext& ctx) {
  const bool failed = ctx.exception != nullptr;
  decl_has_errors_ = decl_has_errors_ || failed;
  return failed;
}

diag::Builder TreeBuilder::Report(const Span& span, diag::Code code, std::initializer_list<diag::Argument> arguments) {
  decl_has_errors_ = true;
  return emitter_.Emit(span, code, arguments);
}

ast::Name TreeBuilder::NameOf(antlr4::tree::TerminalNode* node) const {
  return {Spelling(*node->getSymbol()), SpanOfToken(*node->getSymbol())};
}

ast::Name TreeBuilder::LabelOf(P::LabelContext& ctx) const { return {Spelling(*ctx.getStart()), SpanOfToken(*ctx.getStart())}; }

std::vector<ast::Name> TreeBuilder::NamesOf(P::NamesContext& ctx) const {
  std::vector<ast::Name> names;
  for (auto* name : ctx.NAME()) names.push_back(NameOf(name));
  return names;
}

ast::Path TreeBuilder::PathOf(P::PathContext& ctx) const {
  ast::Path path;
  for (auto* name : ctx.NAME()) path.parts.push_back(NameOf(name));
  path.span = SpanOfRule(ctx);
  return path;
}

std::string TreeBuilder::Plain(antlr4::tree::TerminalNode* node) const {
  const Token& token = *node->getSymbol();
  return ReadPlainString(TextOf(text_, token), SpanOfToken(token), emitter_);
}

std::optional<std::string> TreeBuilder::PlainIf(antlr4::tree::TerminalNode* node) const {
  if (node == nullptr) return std::nullopt;
  return Plain(node);
}

std::optional<std::string> TreeBuilder::ExternalName(antlr4::tree::TerminalNode* node) {
  std::optional<std::string> name = PlainIf(node);
  if (name && name->empty()) Report(SpanOfToken(*node->getSymbol()), diag::kNoExternalName);
  return name;
}

}  // namespace wf::parse
