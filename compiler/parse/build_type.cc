// Types, dimensions and parameters.

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
    const size_t unit = dim.text.find_first_not_of("0123456789_.");
    const std::string meant = dim.text.substr(0, unit) + "*" + dim.text.substr(unit);
    Report(dim.span, diag::kMeasureAsDimension, {dim.text, meant}).Fix(dim.span, meant);
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
