// `match`: a choice by value, written as `if` over equal and present.

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/ir/scalar.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/help.h"
#include "compiler/sema/names.h"

namespace wf::sema {
namespace {

class MatchCheck {
 public:
  MatchCheck(Body& body, const ast::MatchExpr& expr, LocalId subject) : body_(body), expr_(expr), subject_(subject) {
    const TypeRef type = body.locals[subject].type;
    is_optional_ = type->kind == TypeKind::kOptional;
    value_type_ = is_optional_ ? type->element : type;
  }

  // The `if` over the subject's local; poison after a report.
  ExprPtr Run(TypeRef wanted, const Where& where) {
    const uint32_t mark = body_.NextSymbol();
    const Where inside = wanted != nullptr ? where : where.Soft();
    std::vector<ExprPtr> conditions;
    std::vector<ArmCheck> arms;
    bool sound = true;
    for (const ast::MatchExpr::Arm& arm : expr_.arms) {
      const bool has_room = has_room_ = !IsCovered();
      if (!has_room) body_.env.Report(arm.span, kArmNeverRuns);
      const ast::Pattern* const binder = BinderOf(arm);
      const bool binds_value = binder != nullptr && none_covered_;
      ExprPtr condition = Condition(arm);
      sound = sound && condition != nullptr;
      if (condition != nullptr && has_room) conditions.push_back(std::move(condition));
      arms.push_back({CertaintyOf(body_, *arm.value),
                      [this, &arm, &inside, binder, binds_value](TypeRef hint) { return Value(arm, hint, inside, binder, binds_value); }});
    }
    if (sound) ReportMissing();
    std::vector<ExprPtr> values;
    const TypeRef joined = CheckArms(body_, arms, wanted, inside, values);
    if (!sound || !IsCovered() || joined->kind == TypeKind::kError) return Poison(body_, expr_.span);
    values.resize(conditions.size());  // without arms that never run
    conditions.pop_back();             // the last one takes what is left
    if (!conditions.empty()) return FillIf(body_, Make(ExprKind::kIf, joined, expr_.span), std::move(conditions), std::move(values), mark);
    return Coerce(body_, std::move(values[0]), joined);
  }

 private:
  static bool IsAnything(const ast::Pattern& pattern) { return pattern.kind == ast::Pattern::Kind::kName; }
  const ast::Pattern* BinderOf(const ast::MatchExpr::Arm& arm) const {
    const auto at = std::find_if(arm.patterns.begin(), arm.patterns.end(),
                                 [](const ast::Pattern& pattern) { return IsAnything(pattern) && pattern.text != "_"; });
    return at == arm.patterns.end() ? nullptr : &*at;
  }
  // `A => 1`, where `A` is a value: it was to be compared with, and would take all values by another `A`.
  bool IsTaken(const ast::Pattern& pattern) const {
    if (!IsAnything(pattern) || pattern.text == "_") return false;
    const Entity* const entity = FindEntity(body_.module, pattern.text);
    return body_.Find(pattern.text) || body_.symbols.contains(pattern.text) || (entity != nullptr && entity->kind == EntityKind::kConst);
  }
  void ReportTaken(const ast::Pattern& pattern) {
    body_.taken_names.insert(pattern.text);
    const auto local = body_.Find(pattern.text);
    const auto symbol = body_.symbols.find(pattern.text);
    if (local) body_.infos[*local].used = true;
    Entity* const entity = FindEntity(body_.module, pattern.text);
    if (!local && symbol == body_.symbols.end()) {
      entity->used = true;
      ReportTwice(body_.env, {pattern.text, pattern.span}, *entity).Help(HelpToCompareIn(pattern.text));
      return;
    }
    body_.env.Report(pattern.span, kDuplicateName, {pattern.text})
        .Label(local ? body_.locals[*local].span : symbol->second, "first declared here")
        .Help(HelpToCompareIn(pattern.text));
  }
  bool IsCovered() const {
    const bool is_bool = IsScalarBool(value_type_);
    return all_covered_ || (values_covered_.size() == 2 && is_bool && (none_covered_ || !is_optional_));
  }

  // When an arm is taken, as far as those before it are not; null after a report.
  ExprPtr Condition(const ast::MatchExpr::Arm& arm) {
    const TypeRef bool_type = body_.env.types.Scalar(DType::kBool);
    ExprPtr any;
    for (const ast::Pattern& pattern : arm.patterns) {
      if (IsAnything(pattern) && pattern.text != "_" && arm.patterns.size() > 1) {
        body_.env.Report(pattern.span, kPatternType, {pattern.text, "an arm of several patterns"})
            .Help(IsTaken(pattern) ? HelpToCompareIn(pattern.text) : "a name takes every value; give it an arm of its own");
        return nullptr;
      }
      if (IsTaken(pattern)) return nullptr;
      ExprPtr one = Test(pattern);
      if (one == nullptr) return nullptr;
      if (any != nullptr) {
        ExprPtr both = Make(ExprKind::kOr, bool_type, arm.span);
        both->args.push_back(std::move(any));
        both->args.push_back(std::move(one));
        one = std::move(both);
      }
      any = std::move(one);
    }
    return any;
  }

  ExprPtr Test(const ast::Pattern& pattern) {
    const TypeRef bool_type = body_.env.types.Scalar(DType::kBool);
    using Kind = ast::Pattern::Kind;
    if (IsAnything(pattern)) {
      all_covered_ = true;
      ExprPtr always = Make(ExprKind::kScalar, bool_type, pattern.span);
      always->bits = 1;
      return always;
    }
    if (pattern.kind == Kind::kNone) {
      if (!is_optional_) return Misfit(pattern);
      Cover(none_covered_, pattern);
      ExprPtr absent = Make(ExprKind::kUnary, bool_type, pattern.span);
      absent->unary = UnaryOp::kNot;
      absent->args.push_back(Has(pattern.span));
      return absent;
    }
    ExprPtr literal = Literal(pattern);
    if (literal == nullptr) return nullptr;
    if (!values_covered_.insert(pattern.kind == Kind::kString ? pattern.text : std::to_string(literal->bits)).second && has_room_)
      body_.env.Report(pattern.span, kArmNeverRuns);
    ExprPtr equal = Make(ExprKind::kBinary, bool_type, pattern.span);
    equal->binary = BinaryOp::kEq;
    equal->args.push_back(is_optional_ ? Unwrapped(pattern.span) : ReadLocal(body_, subject_, pattern.span));
    equal->args.push_back(std::move(literal));
    if (!is_optional_) return equal;
    ExprPtr both = Make(ExprKind::kAnd, bool_type, pattern.span);
    both->args.push_back(Has(pattern.span));
    both->args.push_back(std::move(equal));
    return both;
  }

  void Cover(bool& covered, const ast::Pattern& pattern) {
    if (std::exchange(covered, true) && has_room_) body_.env.Report(pattern.span, kArmNeverRuns);
  }

  ExprPtr Literal(const ast::Pattern& pattern) {
    using Kind = ast::Pattern::Kind;
    const bool is_integer = value_type_->kind == TypeKind::kScalar && IsInteger(value_type_->dtype);
    if (pattern.kind == Kind::kString && value_type_->kind == TypeKind::kString) return MakeText(body_, pattern.text, pattern.span);
    if ((pattern.kind == Kind::kTrue || pattern.kind == Kind::kFalse) && IsScalarBool(value_type_)) {
      ExprPtr value = Make(ExprKind::kScalar, value_type_, pattern.span);
      value->bits = pattern.kind == Kind::kTrue ? 1 : 0;
      return value;
    }
    if (pattern.kind != Kind::kInt || !is_integer) return Misfit(pattern);
    const bool is_negative = pattern.text.starts_with("-");
    ast::NumberExpr number(pattern.span);
    number.text = pattern.text.substr(is_negative ? 1 : 0);
    if (!is_negative) return Sound(CheckLiteral(body_, number, value_type_));
    ast::UnaryExpr negated(pattern.span);
    auto operand = std::make_unique<ast::NumberExpr>(pattern.span);
    operand->text = number.text;
    negated.operand = std::move(operand);
    return Sound(CheckLiteral(body_, negated, value_type_));
  }
  static ExprPtr Sound(ExprPtr value) { return IsPoison(*value) ? nullptr : std::move(value); }

  ExprPtr Misfit(const ast::Pattern& pattern) {
    body_.env
        .Report(pattern.span, kPatternType, {body_.env.input.sources.Text(pattern.span), "`" + ToString(body_.locals[subject_].type) + "`"})
        .Label(expr_.subject->span, "what is matched");
    return nullptr;
  }

  ExprPtr Has(const Span& span) {
    ExprPtr has = Make(ExprKind::kHas, body_.env.types.Scalar(DType::kBool), span);
    has->args.push_back(ReadLocal(body_, subject_, span));
    return has;
  }
  ExprPtr Unwrapped(const Span& span) {
    ExprPtr value = Make(ExprKind::kUnwrap, value_type_, span);
    value->args.push_back(ReadLocal(body_, subject_, span));
    SettleRead(body_, *value);
    return value;
  }

  // The value of an arm; where a name takes what is matched, after a `let`. Once `none` has its arm, the name is never none.
  ExprPtr Value(const ast::MatchExpr::Arm& arm, TypeRef hint, const Where& where, const ast::Pattern* binder, bool binds_value) {
    if (binder != nullptr && IsTaken(*binder)) {
      if (arm.patterns.size() == 1) ReportTaken(*binder);
      binder = nullptr;
    }
    if (binder == nullptr) return CheckExpr(body_, *arm.value, hint, where);
    const uint32_t mark = body_.NextSymbol();
    const Scope scope(body_);
    BlockStep step;
    step.span = binder->span;
    step.value = is_optional_ && binds_value ? Unwrapped(binder->span) : ReadLocal(body_, subject_, binder->span);
    step.local = body_.Declare(LocalKind::kArm, {binder->text, binder->span}, step.value->type);
    BindIntegerLocal(body_, step.local, *step.value);
    ExprPtr value = CheckExpr(body_, *arm.value, hint, where);
    if (IsPoison(*value)) return value;
    ExprPtr block = Make(ExprKind::kBlock, value->type, value->span);
    block->steps.push_back(std::move(step));
    block->args.push_back(std::move(value));
    Settle(body_, *block, mark);
    return block;
  }

  void ReportMissing() {
    if (IsCovered()) return;
    std::string missing;
    const auto add = [&](bool is_missing, const char* what) {
      if (is_missing) missing += (missing.empty() ? "" : ", ") + std::string(what);
    };
    add(is_optional_ && !none_covered_, "`none`");
    if (IsScalarBool(value_type_)) {
      add(!values_covered_.contains("1"), "`true`");
      add(!values_covered_.contains("0"), "`false`");
    } else {
      add(true, !values_covered_.empty() ? "the other values" : is_optional_ ? "a value that is not none" : "any value");
    }
    Span word = expr_.span;
    word.end = word.begin + 5;
    body_.env.Report(word, kNotExhaustive, {missing}).Help("`_ => ..` takes all that is left");
  }

  Body& body_;
  const ast::MatchExpr& expr_;
  const LocalId subject_;
  TypeRef value_type_ = nullptr;
  bool has_room_ = true;  // values are left for the arm at hand
  bool is_optional_ = false, all_covered_ = false, none_covered_ = false;
  std::set<std::string> values_covered_;
};

bool IsMatchable(TypeRef type) {
  if (type->kind == TypeKind::kOptional || type->kind == TypeKind::kString) return true;
  return type->kind == TypeKind::kScalar && (IsInteger(type->dtype) || type->dtype == DType::kBool);
}

std::optional<std::string> HelpToChoose(Body& body, const Expr& subject) {
  if (subject.type->kind != TypeKind::kScalar) return "one value of it can be matched: an element or a field";
  const std::string_view text = body.env.input.sources.Text(subject.span);
  return "floats are compared: `if " + std::string(text.size() > 24 ? "x" : text) + " < 0.5 { .. } else { .. }`";
}

}  // namespace

ExprPtr CheckMatch(Body& body, const ast::MatchExpr& expr, TypeRef wanted, const Where& where) {
  const uint32_t mark = body.NextSymbol();
  const Scope scope(body);
  ExprPtr subject = CheckExpr(body, *expr.subject, nullptr, where);
  if (IsPoison(*subject)) return SkipUnchecked(body, expr);
  if (!IsMatchable(subject->type) && subject->type->kind != TypeKind::kNone) {
    body.env.Report(subject->span, kNotMatchable, {ToString(subject->type)}).HelpIf(HelpToChoose(body, *subject));
    return SkipUnchecked(body, expr);
  }
  if (subject->type->is_open) {
    ReportOpen(body, *subject);
    return SkipUnchecked(body, expr);
  }
  BlockStep step;
  step.span = subject->span;
  step.local = body.Declare(LocalKind::kLet, {"_", subject->span}, subject->type);
  BindIntegerLocal(body, step.local, *subject);
  step.value = std::move(subject);
  ExprPtr choice = MatchCheck(body, expr, step.local).Run(wanted, where);
  if (IsPoison(*choice)) return choice;
  ExprPtr whole = Make(ExprKind::kBlock, choice->type, expr.span);
  whole->steps.push_back(std::move(step));
  whole->args.push_back(std::move(choice));
  Settle(body, *whole, mark);
  return whole;
}

}  // namespace wf::sema
