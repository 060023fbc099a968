// Arithmetic over integers that are known when compiled, by their literals or as constants: it must fit its type (docs/semantics.md 23).
// What functions do with them is done as when the program runs, and wraps.

#include <optional>

#include "compiler/diag/shorten.h"
#include "compiler/ir/scalar.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"

namespace wf::sema {
namespace {

using Wide = __int128;

std::optional<Wide> Known(const Body& body, const Expr& expr) {
  const bool is_integer = expr.type->kind == TypeKind::kScalar && IsInteger(expr.type->dtype);
  if (!is_integer || !expr.checks.empty()) return std::nullopt;
  if (expr.kind != ExprKind::kScalar && expr.kind != ExprKind::kConst) return std::nullopt;
  const uint64_t bits = expr.kind == ExprKind::kScalar ? expr.bits : body.env.program.consts[expr.index].value.bits;
  const DType dtype = expr.type->dtype;
  return ir::IsSigned(dtype) ? Wide{ir::SignedOf(dtype, bits)} : Wide{bits};
}

// Nothing for what is no arithmetic, and for a division by zero.
std::optional<Wide> Apply(const Expr& expr, Wide left, Wide right) {
  if (expr.kind == ExprKind::kUnary) return expr.unary == UnaryOp::kNegate ? std::optional(-left) : std::nullopt;
  if (expr.kind == ExprKind::kBuiltin) {
    const auto builtin = static_cast<Builtin>(expr.index);
    if (builtin == Builtin::kMin) return std::min(left, right);
    if (builtin == Builtin::kMax) return std::max(left, right);
    return builtin == Builtin::kAbs ? std::optional(left < 0 ? -left : left) : std::nullopt;
  }
  if (expr.kind != ExprKind::kBinary) return std::nullopt;
  switch (expr.binary) {
    case BinaryOp::kAdd:
      return left + right;
    case BinaryOp::kSub:
      return left - right;
    case BinaryOp::kMul: {
      Wide product = 0;  // of two u64 that are large it does not fit itself
      const bool is_too_large = __builtin_mul_overflow(left, right, &product);
      return is_too_large ? Wide{1} << 100 : product;
    }
    case BinaryOp::kDiv:
      return right == 0 ? std::nullopt : std::optional(left / right);
    case BinaryOp::kRem:
      return right == 0 ? std::nullopt : std::optional(left % right);
    case BinaryOp::kEq:
    case BinaryOp::kNe:
    case BinaryOp::kLt:
    case BinaryOp::kLe:
    case BinaryOp::kGt:
    case BinaryOp::kGe:
      break;
  }
  return std::nullopt;
}

bool Fits(DType dtype, Wide value) {
  const int width = static_cast<int>(ir::SizeOf(dtype)) * 8;
  if (!ir::IsSigned(dtype)) return value >= 0 && value >> width == 0;
  return value >= -(Wide{1} << (width - 1)) && value < Wide{1} << (width - 1);
}

}  // namespace

ExprPtr FoldKnown(Body& body, ExprPtr expr) {
  if (expr->type->kind != TypeKind::kScalar || !IsInteger(expr->type->dtype) || expr->args.empty() || expr->args.size() > 2) return expr;
  const std::optional<Wide> left = Known(body, *expr->args.front()), right = Known(body, *expr->args.back());
  const std::optional<Wide> value = left && right ? Apply(*expr, *left, *right) : std::nullopt;
  if (!value) return expr;
  const DType dtype = expr->type->dtype;
  if (!Fits(dtype, *value)) {
    const std::string shown = diag::FirstLine(body.env.input.sources.Text(expr->span));
    body.env.Report(expr->span, kConstantOverflow, {shown, ir::NameOf(dtype)});
    return Poison(body, expr->span);
  }
  ExprPtr folded = Make(ExprKind::kScalar, expr->type, expr->span);
  folded->bits = ir::MaskTo(dtype, static_cast<uint64_t>(*value));
  return folded;
}

}  // namespace wf::sema
