// Expressions.

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diag/foreign.h"
#include "compiler/parse/build.h"
#include "compiler/parse/units.h"
#include "runtime/base/check.h"

namespace wf::parse {
namespace {

using ast::BinaryOp;
using ast::ExprPtr;
using source::Span;

BinaryOp BinaryOpOf(size_t type) {
  switch (type) {
    case T::STAR:
      return BinaryOp::kMul;
    case T::SLASH:
      return BinaryOp::kDiv;
    case T::PERCENT:
      return BinaryOp::kRem;
    case T::PLUS:
      return BinaryOp::kAdd;
    case T::MINUS:
      return BinaryOp::kSub;
    case T::EQ:
      return BinaryOp::kEq;
    case T::NE:
      return BinaryOp::kNe;
    case T::LT:
      return BinaryOp::kLt;
    case T::LE:
      return BinaryOp::kLe;
    case T::GT:
      return BinaryOp::kGt;
    case T::GE:
      return BinaryOp::kGe;
    case T::AND:
      return BinaryOp::kAnd;
    case T::OR:
      return BinaryOp::kOr;
    case T::COALESCE:
      return BinaryOp::kCoalesce;
    case T::PIPE:
      return BinaryOp::kPipe;
    default:
      WF_CHECK(false, type);
  }
}

bool IsComparison(BinaryOp op) { return op >= BinaryOp::kEq && op <= BinaryOp::kGe; }

}  // namespace

ExprPtr TreeBuilder::Expr(P::ExprContext& ctx) {
  ExprPtr left = Op(*ctx.op());
  return ctx.expr() == nullptr ? std::move(left) : Lambda(std::move(left), ctx);
}

// Left of `=>`: a list of names, each with or without `< extent`.
ExprPtr TreeBuilder::Lambda(ExprPtr left, P::ExprContext& ctx) {
  auto lambda = std::make_unique<ast::LambdaExpr>(SpanOfRule(ctx));
  lambda->body = Expr(*ctx.expr());
  const auto refuse = [&](const Span& span, std::string_view what) -> ExprPtr {
    auto built = Report(span, diag::kBadLambda, {what});
    const auto* paren = ast::DynAs<ast::ParenExpr>(*left);
    const ast::Expr& taken = paren != nullptr && paren->inner ? *paren->inner : *left;
    if (taken.kind == ast::ExprKind::kNameExpr) built.Help(std::string(diag::OursFor(diag::Foreign::kPrefix, "lambda")));
    return std::make_unique<ast::ErrorExpr>(SpanOfRule(ctx));
  };
  const auto* binary = ast::DynAs<ast::BinaryExpr>(*left);
  if (binary != nullptr && binary->right != nullptr && binary->right->kind == ast::ExprKind::kListExpr) {
    Report(left->span, diag::kBadLambda, {"an operator"}).Help("a tensor that is an operand stands in parentheses: `x + ([i] => e)`");
    return std::make_unique<ast::ErrorExpr>(SpanOfRule(ctx));
  }
  if (left->kind != ast::ExprKind::kListExpr) return refuse(left->span, "no list");
  for (ExprPtr& element : static_cast<ast::ListExpr&>(*left).elements) {
    ast::LambdaExpr::Index index;
    const auto* name = ast::DynAs<ast::NameExpr>(*element);
    if (element->kind == ast::ExprKind::kBinaryExpr && ast::As<ast::BinaryExpr>(*element).op == BinaryOp::kLt) {
      auto& bound = static_cast<ast::BinaryExpr&>(*element);
      name = ast::DynAs<ast::NameExpr>(*bound.left);
      index.extent = std::move(bound.right);
    }
    if (name == nullptr) return refuse(element->span, "something that is neither a name nor `name < extent`");
    index.name = {name->name, name->span};
    lambda->indices.push_back(std::move(index));
  }
  if (lambda->indices.empty()) return refuse(left->span, "an empty list");
  return lambda;
}

// Chains such as `a + b + c` or `x.y(z)[i]` nest to the left; they are walked from their leaf up.
ExprPtr TreeBuilder::Op(P::OpContext& ctx) {
  std::vector<P::OpContext*> spine;
  P::OpContext* leaf = &ctx;
  while (leaf->object != nullptr || leaf->left != nullptr) {
    spine.push_back(leaf);
    leaf = leaf->object != nullptr ? leaf->object : leaf->left;
  }
  ExprPtr expr = OpLeaf(*leaf);
  for (auto step = spine.rbegin(); step != spine.rend(); ++step) expr = OpStep(std::move(expr), **step);
  return expr;
}

ExprPtr TreeBuilder::OpLeaf(P::OpContext& ctx) {
  if (ctx.operand == nullptr) return Primary(*ctx.primary());
  if (ctx.what->getType() == T::KW_FAIL) {
    auto fail = std::make_unique<ast::FailExpr>(SpanOfRule(ctx));
    fail->error = Op(*ctx.operand);
    return fail;
  }
  auto unary = std::make_unique<ast::UnaryExpr>(SpanOfRule(ctx));
  unary->op = ctx.what->getType() == T::MINUS ? ast::UnaryOp::kNegate : ast::UnaryOp::kNot;
  unary->operand = Op(*ctx.operand);
  return unary;
}

ExprPtr TreeBuilder::OpStep(ExprPtr left, P::OpContext& ctx) {
  const Span span = SpanOfRule(ctx);
  if (ctx.object == nullptr) return Binary(std::move(left), ctx);
  switch (ctx.what->getType()) {
    case T::DOT: {
      auto member = std::make_unique<ast::MemberExpr>(span);
      member->object = std::move(left);
      member->member = LabelOf(*ctx.label());
      return member;
    }
    case T::LPAREN: {
      auto call = std::make_unique<ast::CallExpr>(span);
      call->callee = std::move(left);
      call->arguments = Arguments(ctx.args());
      return call;
    }
    default: {
      auto index = std::make_unique<ast::IndexExpr>(span);
      index->object = std::move(left);
      index->subscripts = Subscripts(ctx);
      return index;
    }
  }
}

ExprPtr TreeBuilder::Binary(ExprPtr left, P::OpContext& ctx) {
  auto binary = std::make_unique<ast::BinaryExpr>(SpanOfRule(ctx));
  binary->op = BinaryOpOf(ctx.what->getType());
  binary->op_span = SpanOfToken(*ctx.what);
  binary->left = std::move(left);
  binary->right = Op(*ctx.right);
  const auto* inner = ast::DynAs<ast::BinaryExpr>(*binary->left);
  if (IsComparison(binary->op) && inner != nullptr && IsComparison(inner->op)) {
    auto built = Report(binary->op_span, diag::kChainedComparison, {ast::Spelling(binary->op)});
    built.Label(inner->op_span, "the first comparison");
    const auto* cast = ast::DynAs<ast::NameExpr>(*inner->left);  // `static_cast<f32>(x)`
    if (cast != nullptr && cast->name == "static_cast") built.Help(std::string(diag::OursFor(diag::Foreign::kName, cast->name)));
    return std::make_unique<ast::ErrorExpr>(binary->span);
  }
  if (binary->op == BinaryOp::kPipe && binary->right->kind != ast::ExprKind::kCallExpr) {
    if (binary->right->kind != ast::ExprKind::kErrorExpr) {
      auto built = Report(binary->right->span, diag::kPipeIntoNoCall, {"no call"});
      const ast::Expr* first = binary->right.get();
      const auto* outer = ast::DynAs<ast::BinaryExpr>(*first);
      while (const auto* next = ast::DynAs<ast::BinaryExpr>(*first)) first = (outer = next)->left.get();
      if (outer != nullptr && first->kind == ast::ExprKind::kCallExpr) {
        built.Help(fmt::format("`|>` binds loosest: `(a |> f(x)) {} b`", ast::Spelling(outer->op)));
      } else if (outer == nullptr && (first->kind == ast::ExprKind::kNameExpr || first->kind == ast::ExprKind::kMemberExpr)) {
        const Span& named = first->span;
        built.Help("`a |> f(x)` is `f(a, x)`").Fix({named.file, named.end, named.end}, "()");
      } else {
        built.Help("`a |> f(x)` is `f(a, x)`");
      }
    }
    return std::make_unique<ast::ErrorExpr>(binary->span);
  }
  return binary;
}

ExprPtr TreeBuilder::Primary(P::PrimaryContext& ctx) {
  if (ctx.literal != nullptr) return Literal(*ctx.literal);
  if (ctx.list() != nullptr) return List(*ctx.list());
  if (ctx.tuple() != nullptr) return Tuple(*ctx.tuple());
  if (ctx.ifExpr() != nullptr) return IfValue(*ctx.ifExpr());
  if (ctx.matchExpr() != nullptr) return Match(*ctx.matchExpr());
  if (auto* loop = ctx.forExpr()) {
    auto expr = std::make_unique<ast::ForExpr>(SpanOfRule(*loop));
    expr->names = NamesOf(*loop->names());
    expr->source = Expr(*loop->expr());
    expr->block = BlockOf(*loop->block());
    return expr;
  }
  if (auto* fold = ctx.foldExpr()) {
    auto expr = std::make_unique<ast::FoldExpr>(SpanOfRule(*fold));
    expr->accumulator = NameOf(fold->NAME());
    expr->initial = Expr(*fold->initial);
    expr->names = NamesOf(*fold->names());
    expr->source = Expr(*fold->source);
    expr->block = BlockOf(*fold->block());
    return expr;
  }
  auto paren = std::make_unique<ast::ParenExpr>(SpanOfRule(ctx));
  paren->inner = Expr(*ctx.expr());
  return paren;
}

ExprPtr TreeBuilder::Literal(const Token& token) {
  const Span span = SpanOfToken(token);
  const auto number = [&](ast::NumberKind kind) {
    auto expr = std::make_unique<ast::NumberExpr>(span);
    expr->number_kind = kind;
    expr->text = Spelling(token);
    return expr;
  };
  const auto literal = [&](ast::LiteralKind kind) {
    auto expr = std::make_unique<ast::LiteralExpr>(span);
    expr->literal = kind;
    return expr;
  };
  switch (token.getType()) {
    case T::INT:
      return number(ast::NumberKind::kInt);
    case T::FLOAT:
      return number(ast::NumberKind::kFloat);
    case T::MEASURE:
      if (LacksDigits(ast::NumberKind::kMeasure, Spelling(token)))
        Report(span, diag::kUnexpectedToken, {"`" + Spelling(token) + "`", kHexDigits});
      return number(ast::NumberKind::kMeasure);
    case T::KW_TRUE:
      return literal(ast::LiteralKind::kTrue);
    case T::KW_FALSE:
      return literal(ast::LiteralKind::kFalse);
    case T::KW_NONE:
      return literal(ast::LiteralKind::kNone);
    case T::NAME: {
      auto name = std::make_unique<ast::NameExpr>(span);
      name->name = Spelling(token);
      return name;
    }
    default: {
      auto text = std::make_unique<ast::StringExpr>(span);
      text->raw = token.getType() == T::RAW_STRING;
      text->pieces = ReadString(TextOf(text_, token), span, FollowsOpenHole(token) ? Holes::kNone : holes_, emitter_);
      return text;
    }
  }
}

// What stands behind a string that ended in braces was meant to stand in them, which has been told there.
bool TreeBuilder::FollowsOpenHole(const Token& token) const {
  constexpr size_t kFarthest = 4;
  const size_t number = token.getTokenIndex();
  for (size_t back = 1; back <= std::min(number, kFarthest); ++back) {
    const Token& before = *tokens_.all[number - back];
    if (before.getType() == T::STRING && EndsInHole(TextOf(text_, before))) return true;
  }
  return false;
}

ExprPtr TreeBuilder::List(P::ListContext& ctx) {
  const auto elements = ctx.expr();
  if (auto* rest = ctx.comprehension()) {
    auto expr = std::make_unique<ast::ComprehensionExpr>(SpanOfRule(ctx));
    expr->value = Expr(*elements.front());
    expr->names = NamesOf(*rest->names());
    expr->source = Expr(*rest->source);
    if (rest->condition != nullptr) expr->condition = Expr(*rest->condition);
    return expr;
  }
  auto list = std::make_unique<ast::ListExpr>(SpanOfRule(ctx));
  for (P::ExprContext* element : elements) list->elements.push_back(Expr(*element));
  return list;
}

ExprPtr TreeBuilder::Tuple(P::TupleContext& ctx) {
  auto tuple = std::make_unique<ast::TupleExpr>(SpanOfRule(ctx));
  for (P::TupleFieldContext* field : ctx.tupleField()) tuple->fields.push_back({LabelOf(*field->label()), Expr(*field->expr())});
  return tuple;
}

ExprPtr TreeBuilder::IfValue(P::IfExprContext& ctx) {
  auto expr = std::make_unique<ast::IfExpr>(SpanOfRule(ctx));
  const auto conditions = ctx.expr();
  const auto blocks = ctx.block();
  for (size_t arm = 0; arm < conditions.size(); ++arm) expr->arms.push_back({Expr(*conditions[arm]), BlockOf(*blocks[arm])});
  expr->otherwise = BlockOf(*blocks.back());
  return expr;
}

ExprPtr TreeBuilder::Match(P::MatchExprContext& ctx) {
  auto match = std::make_unique<ast::MatchExpr>(SpanOfRule(ctx));
  match->subject = Expr(*ctx.expr());
  for (P::ArmContext* one : ctx.arm()) {
    ast::MatchExpr::Arm arm;
    for (P::PatternContext* pattern : one->pattern()) arm.patterns.push_back(PatternOf(*pattern));
    arm.value = Expr(*one->expr());
    arm.span = SpanOfRule(*one);
    match->arms.push_back(std::move(arm));
  }
  return match;
}

ast::Pattern TreeBuilder::PatternOf(P::PatternContext& ctx) {
  using Kind = ast::Pattern::Kind;
  const Token& last = *ctx.getStop();
  ast::Pattern pattern{Kind::kName, Spelling(last), SpanOfRule(ctx)};
  switch (last.getType()) {
    case T::INT:
      pattern.kind = Kind::kInt;
      if (ctx.MINUS() != nullptr) pattern.text = "-" + pattern.text;
      break;
    case T::STRING:
    case T::RAW_STRING:
      pattern.kind = Kind::kString;
      pattern.text = ConstantText(last);
      break;
    case T::KW_TRUE:
      pattern.kind = Kind::kTrue;
      break;
    case T::KW_FALSE:
      pattern.kind = Kind::kFalse;
      break;
    case T::KW_NONE:
      pattern.kind = Kind::kNone;
      break;
    default:
      break;
  }
  return pattern;
}

// A text as in expressions, of which a pattern takes no values.
std::string TreeBuilder::ConstantText(const Token& token) {
  const Span span = SpanOfToken(token);
  std::string whole;
  for (const ast::StringExpr::Piece& piece : ReadString(TextOf(text_, token), span, Holes::kRead, emitter_)) {
    whole += piece.text;
    if (piece.hole == nullptr) continue;
    const Span hole{piece.hole->span.file, piece.hole->span.begin - 1, piece.hole->span.end + 1};
    Report(hole, diag::kHoleInPattern, {TextOf(text_, token).substr(hole.begin - span.begin, hole.end - hole.begin)})
        .Help("compare with such a text by `if`: `if x == \"a{y}\" { .. } else { .. }`; a brace itself is written `{{`");
  }
  return whole;
}

ast::Block TreeBuilder::BlockOf(P::BlockContext& ctx) {
  ast::Block block;
  block.span = SpanOfRule(ctx);
  for (antlr4::tree::ParseTree* child : ctx.children) {
    if (auto* let = dynamic_cast<P::LetStmtContext*>(child)) block.statements.push_back(Let(*let));
    if (auto* require = dynamic_cast<P::RequireStmtContext*>(child)) block.statements.push_back(Require(*require));
  }
  block.value = Expr(*ctx.expr(0));
  if (ctx.KW_ELSE() != nullptr) block.fallback = Expr(*ctx.expr(1));
  return block;
}

std::vector<ast::Argument> TreeBuilder::Arguments(P::ArgsContext* ctx) {
  std::vector<ast::Argument> arguments;
  if (ctx == nullptr) return arguments;
  for (P::ArgContext* one : ctx->arg()) {
    ast::Argument argument{std::nullopt, Expr(*one->expr()), SpanOfRule(*one)};
    if (one->label() != nullptr) argument.label = LabelOf(*one->label());
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::vector<ast::Subscript> TreeBuilder::Subscripts(P::OpContext& ctx) {
  std::vector<ast::Subscript> subscripts;
  for (P::IndexContext* one : ctx.index()) {
    ast::Subscript subscript{one->slice != nullptr, nullptr, nullptr, SpanOfRule(*one)};
    if (one->first != nullptr) subscript.first = Expr(*one->first);
    if (one->last != nullptr) subscript.last = Expr(*one->last);
    subscripts.push_back(std::move(subscript));
  }
  return subscripts;
}

}  // namespace wf::parse
