// Types, dimensions and parameters.

#include <fmt/format.h>

#include "compiler/diag/foreign_number.h"
#include "compiler/parse/build.h"
#include "compiler/parse/units.h"

namespace wf::parse {

ast::TypePtr TreeBuilder::TypeOf(P::TypeContext& ctx) {
  auto type = std::make_unique<ast::Type>();
  type->span = SpanOfRule(ctx);
  type->optional = ctx.optional != nullptr;
  if (ctx.path() == nullptr) {
    type->kind = ast::Type::Kind::kTuple;
    for (P::FieldContext* field : ctx.field()) {
      type->fields.push_back({LabelOf(*field->label()), ExternalName(field->STRING()), TypeOf(*field->type()), SpanOfRule(*field)});
    }
    return type;
  }
  type->kind = ast::Type::Kind::kNamed;
  type->name = PathOf(*ctx.path());
  if (ctx.type() != nullptr) type->argument = TypeOf(*ctx.type());
  type->is_tensor = ctx.open != nullptr;
  for (P::DimContext* dim : ctx.dim()) type->dims.push_back(Dim(*dim));
  return type;
}

// What may stand in a dimension without being bound there: the constants of the file.
const std::set<std::string>& TreeBuilder::Constants(antlr4::tree::ParseTree& at) {
  if (constants_) return *constants_;
  antlr4::tree::ParseTree* root = &at;
  while (root->parent != nullptr) root = root->parent;
  constants_.emplace();
  for (P::DeclContext* decl : static_cast<P::FileContext*>(root)->decl()) {
    if (decl->constDecl() != nullptr && decl->constDecl()->NAME() != nullptr) constants_->insert(NameOf(decl->constDecl()->NAME()).text);
  }
  return *constants_;
}

// Whether `name` is a dimension of the declaration that `at` stands in, an integer that it is called with, or a constant.
bool TreeBuilder::NamesDimension(const std::string& name, antlr4::tree::ParseTree& at) {
  antlr4::tree::ParseTree* decl = &at;
  while (decl->parent != nullptr && dynamic_cast<P::DeclContext*>(decl) == nullptr) decl = decl->parent;
  if (dimensions_of_ != decl) {
    dimensions_of_ = decl;
    dimensions_.clear();
    for (std::vector<antlr4::tree::ParseTree*> open = {decl}; !open.empty();) {
      antlr4::tree::ParseTree* tree = open.back();
      open.pop_back();
      open.insert(open.end(), tree->children.begin(), tree->children.end());
      auto* const dim = dynamic_cast<P::DimContext*>(tree);
      auto* const param = dynamic_cast<P::ParamContext*>(tree);
      if (dim != nullptr && dim->NAME() != nullptr) dimensions_.insert(NameOf(dim->NAME()).text);
      if (param == nullptr || param->NAME() == nullptr || param->type() == nullptr) continue;
      const source::Span type = SpanOfRule(*param->type());
      if (text_.bytes.substr(type.begin, type.end - type.begin) == "i64") dimensions_.insert(NameOf(param->NAME()).text);
    }
  }
  return dimensions_.contains(name) || Constants(at).contains(name);
}

// `2h`, which may be twice the dimension `h`, and `4L`, which another language reads as 4.
void TreeBuilder::ReportMeasureAsDim(const ast::DimExpr& dim, P::DimContext& ctx) {
  const size_t unit = dim.text.find_first_not_of("0123456789_.");
  const std::string number = dim.text.substr(0, unit), name = dim.text.substr(unit), meant = number + "*" + name;
  const bool is_name = NamesDimension(name, ctx), is_whole = number.find('.') == std::string::npos;
  if (!is_name && diag::ReadForeignNumber(dim.text)) {
    Report(dim.span, diag::kUnexpectedToken, {"`" + dim.text + "`", "a dimension"})
        .HelpIf(is_whole ? std::optional(fmt::format("a number has no suffix: `{}`", number)) : std::nullopt);
    return;
  }
  auto built = Report(dim.span, diag::kMeasureAsDimension, {dim.text, meant});
  if (is_name && is_whole) built.Fix(dim.span, meant);
}

// `a*b + c` nests to the left; the left spine is walked from its leaf up.
ast::DimExpr TreeBuilder::Dim(P::DimContext& ctx) {
  std::vector<P::DimContext*> spine;
  P::DimContext* leaf = &ctx;
  for (; leaf->left != nullptr; leaf = leaf->left) spine.push_back(leaf);
  ast::DimExpr dim = DimLeaf(*leaf);
  for (auto step = spine.rbegin(); step != spine.rend(); ++step) {
    using Kind = ast::DimExpr::Kind;
    const size_t what = (*step)->what->getType();
    ast::DimExpr joined;
    joined.kind = what == T::STAR ? Kind::kMul : what == T::SLASH ? Kind::kDiv : what == T::PLUS ? Kind::kAdd : Kind::kSub;
    joined.span = SpanOfRule(**step);
    joined.operands.push_back(std::move(dim));
    joined.operands.push_back(Dim(*(*step)->right));
    dim = std::move(joined);
  }
  return dim;
}

ast::DimExpr TreeBuilder::DimLeaf(P::DimContext& ctx) {
  using Kind = ast::DimExpr::Kind;
  if (ctx.inner != nullptr) return Dim(*ctx.inner);
  ast::DimExpr dim;
  dim.span = SpanOfRule(ctx);
  dim.text = Spelling(*ctx.getStop());
  if (ctx.what != nullptr) {
    dim.kind = Kind::kRest;
  } else if (ctx.INT() != nullptr) {
    dim.kind = Kind::kInt;
  } else if (ctx.NAME() != nullptr) {
    dim.kind = dim.text == "_" ? Kind::kAny : Kind::kSymbol;
  } else if (LacksDigits(ast::NumberKind::kMeasure, dim.text)) {
    Report(dim.span, diag::kUnexpectedToken, {"`" + dim.text + "`", kHexDigits});
    dim.kind = Kind::kError;
  } else if (const auto foreign = diag::ReadForeignNumber(dim.text); foreign && dim.text.starts_with("0")) {
    auto built = Report(dim.span, diag::kUnexpectedToken, {"`" + dim.text + "`", "a dimension"});
    built.Help(foreign->help);
    if (!foreign->ours.empty()) built.Fix(dim.span, foreign->ours);
    dim.kind = Kind::kError;
  } else {
    ReportMeasureAsDim(dim, ctx);
    dim.kind = Kind::kError;
  }
  return dim;
}

std::vector<ast::Param> TreeBuilder::Params(P::ParamsContext& ctx) {
  std::vector<ast::Param> params;
  for (P::ParamContext* one : ctx.param()) {
    ast::Param param{NameOf(one->NAME()), ExternalName(one->STRING()), TypeOf(*one->type()), nullptr, SpanOfRule(*one)};
    if (one->expr() != nullptr) param.default_value = Expr(*one->expr());
    params.push_back(std::move(param));
  }
  return params;
}

std::vector<ast::Name> TreeBuilder::TypeParams(P::TypeParamsContext* ctx) {
  std::vector<ast::Name> names;
  if (ctx == nullptr) return names;
  for (auto* name : ctx->NAME()) names.push_back(NameOf(name));
  return names;
}

}  // namespace wf::parse
