// The way into expressions: which function checks which form.

#include "compiler/sema/check_expr.h"

#include "compiler/sema/mentions.h"
#include "compiler/sema/walk.h"

namespace wf::sema {
namespace {

ExprPtr CheckTruth(Body& body, const ast::LiteralExpr& expr) {
  if (expr.literal == ast::LiteralKind::kNone) return Make(ExprKind::kNone, body.env.types.Simple(TypeKind::kNone), expr.span);
  ExprPtr value = Make(ExprKind::kScalar, body.env.types.Scalar(DType::kBool), expr.span);
  value->bits = expr.literal == ast::LiteralKind::kTrue ? 1 : 0;
  return value;
}

ExprPtr ReadHeld(Body& body, LocalId local, const Span& span) {
  ExprPtr value = Make(ExprKind::kLocal, body.locals[local].type, span);
  value->local = local;
  return value;
}

ExprPtr CheckPipe(Body& body, const ast::BinaryExpr& expr, TypeRef wanted, const Where& where) {
  const auto* call = ast::DynAs<ast::CallExpr>(*expr.right);
  if (call == nullptr) return SkipUnchecked(body, expr);  // reported by the tree's builder
  return CheckCall(body, {*call, expr.left.get()}, wanted, where);
}

ExprPtr CheckForm(Body& body, const ast::Expr& expr, TypeRef wanted, const Where& where) {
  if (const auto held = body.held.find(&expr); held != body.held.end()) return ReadHeld(body, held->second, expr.span);
  switch (expr.kind) {
    case ast::ExprKind::kNameExpr:
      return CheckName(body, ast::As<ast::NameExpr>(expr), where);
    case ast::ExprKind::kNumberExpr:
      return CheckLiteral(body, expr, wanted);
    case ast::ExprKind::kStringExpr:
      return CheckString(body, ast::As<ast::StringExpr>(expr), where);
    case ast::ExprKind::kLiteralExpr:
      return CheckTruth(body, ast::As<ast::LiteralExpr>(expr));
    case ast::ExprKind::kMemberExpr:
      return CheckMember(body, ast::As<ast::MemberExpr>(expr), where);
    case ast::ExprKind::kCallExpr:
      return CheckCall(body, {ast::As<ast::CallExpr>(expr)}, wanted, where);
    case ast::ExprKind::kIndexExpr:
      return CheckIndex(body, ast::As<ast::IndexExpr>(expr), where);
    case ast::ExprKind::kUnaryExpr:
      return CheckUnary(body, ast::As<ast::UnaryExpr>(expr), wanted, where);
    case ast::ExprKind::kBinaryExpr: {
      const auto& binary = ast::As<ast::BinaryExpr>(expr);
      return binary.op == ast::BinaryOp::kPipe ? CheckPipe(body, binary, wanted, where) : CheckBinary(body, binary, wanted, where);
    }
    case ast::ExprKind::kParenExpr:
      return CheckExpr(body, *ast::As<ast::ParenExpr>(expr).inner, wanted, where);
    case ast::ExprKind::kLambdaExpr:
      return CheckLambda(body, ast::As<ast::LambdaExpr>(expr), wanted, where);
    case ast::ExprKind::kFailExpr:
      return CheckFail(body, ast::As<ast::FailExpr>(expr), where);
    case ast::ExprKind::kListExpr:
      return CheckList(body, ast::As<ast::ListExpr>(expr), wanted, where);
    case ast::ExprKind::kComprehensionExpr:
      return CheckComprehension(body, ast::As<ast::ComprehensionExpr>(expr), wanted, where);
    case ast::ExprKind::kTupleExpr:
      return CheckTuple(body, ast::As<ast::TupleExpr>(expr), wanted, where);
    case ast::ExprKind::kIfExpr:
      return CheckIf(body, ast::As<ast::IfExpr>(expr), wanted, where);
    case ast::ExprKind::kMatchExpr:
      return CheckMatch(body, ast::As<ast::MatchExpr>(expr), wanted, where);
    case ast::ExprKind::kForExpr:
      return CheckFor(body, ast::As<ast::ForExpr>(expr), wanted, where);
    case ast::ExprKind::kFoldExpr:
      return CheckFold(body, ast::As<ast::FoldExpr>(expr), wanted, where);
    case ast::ExprKind::kErrorExpr:
      break;
  }
  return SkipUnchecked(body, expr);
}

// Whether a value whose type is open is one that gets it from where it stands. The accumulator of a `fold` has that of the `fold`.
bool TakesType(Expr& value) {
  bool has_parts = false;
  ForEachPart(value, value.type, [&](const ExprPtr&, TypeRef) { has_parts = true; });
  const bool is_empty = value.kind == ExprKind::kNone || value.kind == ExprKind::kList || value.kind == ExprKind::kRecord;
  return has_parts || is_empty || value.kind == ExprKind::kLocal || value.type->kind == TypeKind::kNever;
}

// Poison is: it silences.
bool SaysNothing(TypeRef wanted) { return wanted->is_open || (wanted->is_unknown && wanted->kind != TypeKind::kError); }

}  // namespace

ExprPtr CheckExpr(Body& body, const ast::Expr& expr, TypeRef wanted, Where where) {
  if (++where.depth > kMaxDepth) {
    body.env.Report(expr.span, kTooDeep, {kMaxDepth});
    return SkipUnchecked(body, expr);
  }
  if (wanted != nullptr && SaysNothing(wanted)) wanted = nullptr;
  ExprPtr value = CheckForm(body, expr, wanted, where);
  if (value->type->is_open && !TakesType(*value)) {
    ReportOpen(body, *value);
    return Poison(body, expr.span);
  }
  if (value->type->is_unknown) body.env.NoteUnsound(expr.span);
  return value;
}

ExprPtr Make(ExprKind kind, TypeRef type, const Span& span) {
  ExprPtr expr = std::make_unique<Expr>();
  expr->kind = kind;
  expr->type = type;
  expr->span = span;
  return expr;
}

ExprPtr Poison(Body& body, const Span& span, TypeRef meant) {
  body.env.NoteUnsound(span);
  return Make(ExprKind::kNone, body.env.types.Error(meant), span);
}

ExprPtr MakeInt(Body& body, int64_t value, DType dtype, const Span& span) {
  ExprPtr expr = Make(ExprKind::kScalar, body.env.types.Scalar(dtype), span);
  expr->bits = static_cast<uint64_t>(value);
  return expr;
}

ExprPtr MakeText(Body& body, std::string text, const Span& span) {
  ExprPtr expr = Make(ExprKind::kText, body.env.types.Simple(TypeKind::kString), span);
  expr->text = std::move(text);
  return expr;
}

ExprPtr ReadLocal(Body& body, LocalId local, const Span& span) {
  body.infos[local].used = true;
  if (body.infos[local].kind != LocalKind::kErr) body.env.NoteUse(span, body.locals[local].span);
  ExprPtr expr = Make(ExprKind::kLocal, body.locals[local].type, span);
  expr->local = local;
  LocalInfo& info = body.infos[local];
  if (info.read_type == nullptr) {
    SettleRead(body, *expr);
    info.read_type = expr->type;
    info.read_fresh = expr->fresh;
    return expr;
  }
  expr->type = info.read_type;  // the same value, so the same dimensions
  expr->fresh = info.read_fresh;
  for (const FreshSymbol& fresh : expr->fresh) body.BringAgain(fresh.symbol);
  return expr;
}

bool IsNumeric(DType dtype) { return dtype != DType::kBool && dtype != DType::kNone; }
bool IsWireName(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; });
}

bool IsInteger(DType dtype) { return IsNumeric(dtype) && !ir::IsFloat(dtype); }

ExprPtr SkipUnchecked(Body& body, const ast::Expr& expr) {
  body.silenced = true;
  NameSet names;
  CollectNames(expr, names);
  for (const std::string& name : names) {
    if (const auto local = body.Find(name)) body.infos[*local].used = true;
    const auto entity = body.module.entities.find(name);
    if (entity != body.module.entities.end()) entity->second.used = true;
  }
  return Poison(body, expr.span);
}

}  // namespace wf::sema
