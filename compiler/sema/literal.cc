// Number literals: the value is read with the type that is wanted. Arithmetic over nothing but literals is done here, in that type.

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <optional>
#include <type_traits>

#include "compiler/base/written_integer.h"
#include "compiler/diag/foreign_number.h"
#include "compiler/diag/shorten.h"
#include "compiler/ir/scalar.h"
#include "compiler/sema/check_expr.h"
#include "runtime/abi/values.h"
#include "runtime/base/check.h"
#include "runtime/base/half.h"
#include "runtime/base/number_text.h"

namespace wf::sema {

const ast::Expr& Bare(const ast::Expr& expr) {
  const ast::Expr* at = &expr;
  while (const auto* paren = ast::DynAs<ast::ParenExpr>(*at)) at = paren->inner.get();
  return *at;
}

namespace {

using Wide = __int128;

bool IsArithmetic(ast::BinaryOp op) { return op <= ast::BinaryOp::kSub; }

// What stands at the left end of a chain of arithmetic, and the chain, innermost first.
const ast::Expr& Spine(const ast::Expr& expr, std::vector<const ast::BinaryExpr*>& chain) {
  const ast::Expr* at = &expr;
  while (const auto* binary = ast::DynAs<ast::BinaryExpr>(*at)) {
    if (!IsArithmetic(binary->op)) break;
    chain.push_back(binary);
    at = binary->left.get();
  }
  std::reverse(chain.begin(), chain.end());
  return *at;
}

bool HoldsFloat(const ast::Expr& expr) {
  const ast::Expr& bare = Bare(expr);
  if (const auto* number = ast::DynAs<ast::NumberExpr>(bare)) return number->number_kind == ast::NumberKind::kFloat;
  if (const auto* unary = ast::DynAs<ast::UnaryExpr>(bare)) return HoldsFloat(*unary->operand);
  std::vector<const ast::BinaryExpr*> chain;
  const ast::Expr& first = Spine(bare, chain);
  if (chain.empty()) return false;
  return HoldsFloat(first) || std::any_of(chain.begin(), chain.end(), [](const ast::BinaryExpr* b) { return HoldsFloat(*b->right); });
}

struct Evaluator {
  Body& body;
  DType dtype;   // of the arithmetic: an integer type, f32 or f64 (of f16 and bf16 too, which are rounded once)
  DType wanted;  // of the value: `dtype`, f16 or bf16
  bool failed = false;
  bool quiet = false;  // what is wanted is not known, which has been said

  Wide Limit(bool upper) const {
    const int bits = static_cast<int>(ir::SizeOf(dtype)) * 8;
    if (!ir::IsSigned(dtype)) return upper ? (Wide{1} << bits) - 1 : 0;
    return upper ? (Wide{1} << (bits - 1)) - 1 : -(Wide{1} << (bits - 1));
  }
  std::string TextOf(const ast::Expr& expr) const { return diag::FirstLine(body.env.input.sources.Text(expr.span)); }
  void Report(const ast::Expr& expr, diag::Code code, const std::string& help = "") {
    if (!failed && !quiet) {
      const std::string text = TextOf(expr);
      auto builder = body.env.Report(expr.span, code, {text, ir::NameOf(wanted)});
      if (!help.empty()) builder.Help(help);
      if (text.find_first_not_of("0x_-") == std::string::npos) builder.Help("digits stand behind `0x`: `0x1f`");
    }
    failed = true;
  }
  Wide InRange(Wide value, const ast::Expr& expr, diag::Code code) {
    if (value < Limit(false) || value > Limit(true)) Report(expr, code);
    return failed ? 0 : value;
  }

  Wide IntOfNumber(const ast::NumberExpr& number, const ast::Expr& whole, bool negative) {
    const std::optional<uint64_t> value = source::ReadWrittenInteger(number.text);
    if (!value) {
      Report(whole, kNumberOutOfRange);
      return 0;
    }
    return InRange(negative ? -static_cast<Wide>(*value) : static_cast<Wide>(*value), whole, kNumberOutOfRange);
  }
  Wide Int(const ast::Expr& expr) {
    const ast::Expr& bare = Bare(expr);
    if (const auto* number = ast::DynAs<ast::NumberExpr>(bare)) return IntOfNumber(*number, *number, false);
    if (const auto* unary = ast::DynAs<ast::UnaryExpr>(bare)) {
      const auto* number = ast::DynAs<ast::NumberExpr>(*unary->operand);
      return number != nullptr ? IntOfNumber(*number, *unary, true) : InRange(-Int(*unary->operand), expr, kConstantOverflow);
    }
    std::vector<const ast::BinaryExpr*> chain;
    Wide value = Int(Spine(bare, chain));
    for (const ast::BinaryExpr* step : chain) {
      const Wide right = Int(*step->right);
      if (failed) return 0;
      value = InRange(Apply(*step, value, right), *step, kConstantOverflow);
    }
    return value;
  }
  // Of two that fit 64 bits; what does not fit more stays too large.
  static Wide Product(Wide left, Wide right) {
    Wide product = 0;
    return __builtin_mul_overflow(left, right, &product) ? Wide{1} << 100 : product;
  }
  Wide Apply(const ast::BinaryExpr& step, Wide left, Wide right) {
    if (step.op == ast::BinaryOp::kAdd) return left + right;
    if (step.op == ast::BinaryOp::kSub) return left - right;
    if (step.op == ast::BinaryOp::kMul) return Product(left, right);
    if (right == 0) {
      body.env.Report(step.span, kConstantDivisor);
      failed = true;
      return 0;
    }
    return step.op == ast::BinaryOp::kDiv ? left / right : left % right;
  }

  template <typename T>
  T FloatOfNumber(const ast::NumberExpr& number, const ast::Expr& whole) {
    if (number.text.starts_with("0x")) {
      const std::optional<uint64_t> bits = source::ReadWrittenInteger(number.text);
      if (!bits) Report(whole, kNumberOutOfRange);
      return static_cast<T>(bits.value_or(0));
    }
    T value = 0;
    Decimal(number, whole, std::is_same_v<T, float> ? WF_F32 : WF_F64, &value);
    return value;
  }

  // A number that is not hexadecimal, as one of a request is read: the nearest value of the type. Who writes one that is not 0 does not
  // mean 0.
  void Decimal(const ast::NumberExpr& number, const ast::Expr& whole, uint32_t as, void* value) {
    std::string text = number.text;
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    text.erase(0, std::min(text.find_first_not_of('0'), text.size()));  // `007` is a number here
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) == 0) text.insert(0, "0");
    const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
    base::Number read;
    const bool is_number = base::ScanNumber(begin, begin + text.size(), &read) && read.end == begin + text.size();
    WF_CHECK(is_number, number.text);
    if (base::StoreNumber(read, as, value) != base::Stored::kOk) return Report(whole, kNumberOutOfRange);
    const auto* stored = static_cast<const uint8_t*>(value);
    const bool is_zero = std::all_of(stored, stored + ir::SizeOf(static_cast<DType>(as)), [](uint8_t byte) { return byte == 0; });
    const bool means_zero = text.substr(0, text.find_first_of("eE")).find_first_of("123456789") == std::string::npos;
    if (is_zero && !means_zero) Report(whole, kNumberOutOfRange, "rounded to the type it is 0");
  }
  template <typename T>
  T Float(const ast::Expr& expr) {
    const ast::Expr& bare = Bare(expr);
    if (const auto* number = ast::DynAs<ast::NumberExpr>(bare)) return FloatOfNumber<T>(*number, *number);
    if (const auto* unary = ast::DynAs<ast::UnaryExpr>(bare)) {
      const auto* number = ast::DynAs<ast::NumberExpr>(*unary->operand);
      return number != nullptr ? -FloatOfNumber<T>(*number, *unary) : -Float<T>(*unary->operand);
    }
    std::vector<const ast::BinaryExpr*> chain;
    T value = Float<T>(Spine(bare, chain));
    for (const ast::BinaryExpr* step : chain) {
      const T right = Float<T>(*step->right);
      if (step->op == ast::BinaryOp::kAdd) value = value + right;
      if (step->op == ast::BinaryOp::kSub) value = value - right;
      if (step->op == ast::BinaryOp::kMul) value = value * right;
      const bool divides = step->op == ast::BinaryOp::kDiv || step->op == ast::BinaryOp::kRem;
      if (divides && right == 0) {
        body.env.Report(step->span, kConstantDivisor);
        failed = true;
      }
      if (step->op == ast::BinaryOp::kDiv && right != 0) value = value / right;
      if (step->op == ast::BinaryOp::kRem && right != 0) value = std::fmod(value, right);
      if (!std::isfinite(value) && !failed) Report(*step, kConstantOverflow);
    }
    return value;
  }
};

// What is no plain number, as `5s` and `1u8`, each where it stands. True after a report.
bool ReportMeasures(Body& body, const ast::Expr& expr) {
  const ast::Expr& bare = Bare(expr);
  if (const auto* unary = ast::DynAs<ast::UnaryExpr>(bare)) return ReportMeasures(body, *unary->operand);
  if (const auto* number = ast::DynAs<ast::NumberExpr>(bare)) {
    if (number->number_kind != ast::NumberKind::kMeasure) return false;
    const auto foreign = diag::ReadForeignNumber(number->text);
    auto builder =
        body.env.Report(number->span, kUnitHere, {number->text, foreign ? foreign->has : "a unit; units stand only in settings"});
    if (foreign) builder.Help(foreign->help);
    if (foreign && !foreign->ours.empty()) builder.Fix(number->span, foreign->ours);
    return true;
  }
  std::vector<const ast::BinaryExpr*> chain;
  const ast::Expr& first = Spine(bare, chain);
  bool found = !chain.empty() && ReportMeasures(body, first);
  for (const ast::BinaryExpr* step : chain) found = ReportMeasures(body, *step->right) || found;
  return found;
}

DType ChooseType(const ast::Expr& expr, TypeRef wanted) {
  DType dtype = DType::kNone;
  if (wanted != nullptr && wanted->kind == TypeKind::kOptional) wanted = wanted->element;
  if (wanted != nullptr && wanted->kind == TypeKind::kScalar && IsNumeric(wanted->dtype)) dtype = wanted->dtype;
  const bool is_float = HoldsFloat(expr);
  if (dtype == DType::kNone || (is_float && !ir::IsFloat(dtype))) dtype = is_float ? DType::kF32 : DType::kI64;
  return dtype;
}

// The number, if the literal is a decimal one and nothing more than perhaps negated.
const ast::NumberExpr* DecimalOf(const ast::Expr& expr) {
  const ast::Expr* bare = &Bare(expr);
  if (const auto* unary = ast::DynAs<ast::UnaryExpr>(*bare)) bare = unary->operand.get();
  const auto* number = ast::DynAs<ast::NumberExpr>(*bare);
  return number != nullptr && !number->text.starts_with("0x") ? number : nullptr;
}

}  // namespace

bool IsLiteral(const ast::Expr& expr) {
  const ast::Expr& bare = Bare(expr);
  if (ast::DynAs<ast::NumberExpr>(bare) != nullptr) return true;
  if (const auto* unary = ast::DynAs<ast::UnaryExpr>(bare)) return unary->op == ast::UnaryOp::kNegate && IsLiteral(*unary->operand);
  std::vector<const ast::BinaryExpr*> chain;
  const ast::Expr& first = Spine(bare, chain);
  if (chain.empty() || !IsLiteral(first)) return false;
  return std::all_of(chain.begin(), chain.end(), [](const ast::BinaryExpr* step) { return IsLiteral(*step->right); });
}

ExprPtr CheckLiteral(Body& body, const ast::Expr& expr, TypeRef wanted) {
  if (ReportMeasures(body, expr)) return Poison(body, expr.span);
  const DType dtype = ChooseType(expr, wanted);
  const bool half = ir::IsFloat(dtype) && ir::SizeOf(dtype) == 2;
  Evaluator evaluator{body, half ? DType::kF64 : dtype, dtype};
  evaluator.quiet = wanted != nullptr && wanted->kind == TypeKind::kError;
  uint64_t bits = 0;
  if (!ir::IsFloat(dtype)) {
    bits = ir::MaskTo(dtype, static_cast<uint64_t>(evaluator.Int(expr)));
  } else if (const ast::NumberExpr* number = half ? DecimalOf(expr) : nullptr; number != nullptr) {
    uint16_t value = 0;
    evaluator.Decimal(*number, expr, dtype == DType::kF16 ? WF_F16 : WF_BF16, &value);
    bits = number == &Bare(expr) ? value : value ^ 0x8000U;
  } else if (dtype == DType::kF32) {
    bits = ir::F32Bits(evaluator.Float<float>(expr));
  } else {
    const auto value = evaluator.Float<double>(expr);
    bits = dtype == DType::kF16 ? base::HalfFromDouble(value) : dtype == DType::kBf16 ? base::BfloatFromDouble(value) : ir::F64Bits(value);
    if (half && !std::isfinite(std::bit_cast<double>(ir::ConvertScalar(dtype, DType::kF64, bits)))) {
      evaluator.Report(expr, kNumberOutOfRange);
    }
  }
  if (evaluator.failed) return Poison(body, expr.span);
  ExprPtr value = Make(ExprKind::kScalar, body.env.types.Scalar(dtype), expr.span);
  value->bits = bits;
  return value;
}

}  // namespace wf::sema
