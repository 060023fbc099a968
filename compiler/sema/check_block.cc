// Blocks, `if`, `let`, `require` and `fail`.

#include <algorithm>
#include <utility>

#include "compiler/sema/check_call.h"
#include "compiler/sema/errors.h"
#include "compiler/sema/names.h"

namespace wf::sema {
namespace {

const BuiltInError* FindBuiltIn(Body& body, const ast::Expr& error) {
  const auto* name = ast::DynAs<ast::NameExpr>(error);
  if (name == nullptr || FindEntity(body.module, name->name) != nullptr) return nullptr;
  for (const BuiltInError& known : kBuiltInErrors) {
    if (known.name == name->name) return &known;
  }
  return nullptr;
}

// The declared or built-in error that `expr` names; fills code and default message.
bool ResolveError(Body& body, const ast::Expr& expr, int32_t& code, std::string& message) {
  if (const BuiltInError* known = FindBuiltIn(body, expr)) {
    code = known->code;
    message = known->message;
    return true;
  }
  const auto* name = ast::DynAs<ast::NameExpr>(expr);
  if (name != nullptr && !body.Find(name->name) && FindEntity(body.module, name->name) == nullptr && !body.module.damaged) {
    auto builder = body.env.Report(expr.span, kUnknownName, {name->name});
    builder.DidYouMean(expr.span, name->name, [&] {
      std::vector<std::string> known;
      for (const BuiltInError& error : kBuiltInErrors) known.emplace_back(error.name);
      for (const auto& [text, entity] : body.module.entities) {
        if (entity.kind == EntityKind::kError) known.push_back(text);
      }
      return known;
    });
    builder.Help("an error is declared beside the workflow: `error " + name->name + " = 100001 \"what clients are told\";`");
    return false;
  }
  bool reported = false;
  Entity* entity = ResolveEntity(body, expr, NameUse::kError, reported);
  if (entity != nullptr && entity->kind == EntityKind::kError) {
    code = entity->code;
    message = entity->message;
    return true;
  }
  if (!reported) {
    const std::string what = entity != nullptr ? std::string(NameOf(entity->kind)) : "this value";
    auto builder = body.env.Report(expr.span, kNotAnError, {what});
    if (entity != nullptr) builder.Label(entity->span, "declared here");
    const auto* failed = ast::DynAs<ast::NameExpr>(expr);
    if (failed != nullptr && failed->name == "err") {
      builder.Help("without an `else` a failure goes on as it is");
      return false;
    }
    builder.Help("as in `fail InputParams(\"x is {x}\")`; others are declared: `error NotFound = 100001 \"nothing found\";`");
  }
  return false;
}

}  // namespace

bool MayFail(Body& body, const Span& span, const std::string& what, const Where& where) {
  body.may_fail = true;
  if (where.may_fail) return true;
  auto builder = body.env.Report(span, kFailureHere, {what, where.what});
  if (where.span.file != source::FileId::kNone) builder.Label(where.span, "in " + std::string(where.what));
  if (where.elements) builder.Help("elements are computed all at once; check before, or make a list: `[f(e) for e in x]` may fail");
  return false;
}

bool CallMayFail(Body& body, const Span& span, const std::string& what, const Where& where) {
  const bool is_const = where.files && !where.may_fail && !where.elements;
  return is_const || MayFail(body, span, what, where);
}

TypeRef CheckArms(Body& body, const std::vector<ArmCheck>& arms, TypeRef wanted, const Where& where, std::vector<ExprPtr>& values) {
  const bool is_demanded = wanted != nullptr && wanted->kind == TypeKind::kOptional && !where.soft;
  values.resize(arms.size());
  TypeRef joined = body.env.types.Simple(TypeKind::kNever);
  const Expr* first = nullptr;
  bool sound = true;
  for (const Certainty certainty : kCertainties) {
    for (size_t i = 0; i < arms.size(); ++i) {
      if (arms[i].certainty != certainty) continue;
      const TypeRef hint = wanted != nullptr || joined->kind == TypeKind::kNever ? wanted : joined;
      values[i] = arms[i].check(hint);
      if (is_demanded) {  // what an optional holds is not compared later
        const TypeRef part = BelowOptional(wanted, *values[i]);
        values[i] = FitPart(body, std::move(values[i]), part, where);
      }
      sound = sound && !IsPoison(*values[i]);
      if (!sound) continue;
      const TypeRef both = Join(body.env.types, joined, values[i]->type);
      if (both == nullptr) {
        const bool fits =
            wanted != nullptr && Join(body.env.types, wanted, values[i]->type) != nullptr;  // then it is the other that does not
        const Expr &odd = fits ? *first : *values[i], &other = fits ? *values[i] : *first;
        const TypeRef needed = fits ? wanted : joined;
        body.env.Report(odd.span, kTypeMismatch, {ToString(needed), ToString(odd.type)})
            .Label(other.span, "the other arm")
            .HelpIf(HelpToFit(body, needed, odd));
        sound = false;
        continue;
      }
      if (first == nullptr && values[i]->type->kind != TypeKind::kNever) first = values[i].get();
      joined = both;
    }
  }
  return sound ? joined : body.env.types.Error();
}

ExprPtr FillIf(Body& body, ExprPtr branch, std::vector<ExprPtr> conditions, std::vector<ExprPtr> values, uint32_t mark) {
  const TypeRef joined = WithoutBorn(body, branch->type, mark);
  branch->type = joined;
  for (size_t i = 0; i < values.size(); ++i) {
    ExprPtr value = Coerce(body, std::move(values[i]), joined);
    if (IsPoison(*value)) return Poison(body, branch->span);
    if (i < conditions.size()) branch->args.push_back(std::move(conditions[i]));
    branch->args.push_back(std::move(value));
  }
  Settle(body, *branch, mark);
  return branch;
}

bool IsBuiltInError(std::string_view name) {
  return std::any_of(kBuiltInErrors.begin(), kBuiltInErrors.end(), [&](const BuiltInError& error) { return error.name == name; });
}

void BindIntegerLocal(Body& body, LocalId local, Expr& value) {
  if (value.type->kind == TypeKind::kScalar && IsInteger(value.type->dtype))
    body.infos[local].value = DimOf(body, value, body.locals[local].name);
}

void ReportNever(Body& body, const Expr& value) {
  const std::string text(body.env.input.sources.Text(value.span));
  body.env.Report(value.span, kWrongKind, {text, "never a value", "a value"}).Help("`require c else fail E;` fails unless `c` holds");
}

ExprPtr HasType(Body& body, const ast::Name& name, ExprPtr value) {
  if (IsPoison(*value) || !value->type->is_open) return value;
  if (value->type->kind == TypeKind::kNever) {
    ReportNever(body, *value);
  } else {
    const bool is_none = value->type->kind == TypeKind::kNone;
    body.env.Report(value->span, kCannotInfer, {"`" + name.text + "`"})
        .Help("as in `" + name.text + (is_none ? ": i64? = none`" : ": list<string> = []`"));
  }
  return Poison(body, value->span);
}

std::optional<BlockStep> CheckLet(Body& body, const ast::LetStmt& stmt, const Where& where) {
  const TypeRef type = stmt.type ? ResolveType(body, *stmt.type, SymbolRule::kUse) : nullptr;
  if (type != nullptr && type->kind == TypeKind::kError) {
    CheckExpr(body, *stmt.value, type, where);
    body.Declare(LocalKind::kLet, stmt.name, type);
    return std::nullopt;
  }
  ExprPtr value = type != nullptr
                      ? CheckAs(body, *stmt.value, type, where, Origin{stmt.type->span, std::string(kWrittenHere), stmt.type.get()})
                      : CheckExpr(body, *stmt.value, nullptr, where.For(nullptr));
  value = HasType(body, stmt.name, std::move(value));
  const TypeRef known = IsPoison(*value) && type != nullptr ? type : value->type;
  const LocalId local = body.Declare(LocalKind::kLet, stmt.name, known);
  body.infos[local].written = WrittenTypeOf(body, *value);
  if (IsPoison(*value)) return std::nullopt;
  BindIntegerLocal(body, local, *value);
  body.infos[local].held = HeldBy(body, *value);
  BlockStep step;
  step.local = local;
  step.value = std::move(value);
  step.span = stmt.span;
  return step;
}

std::optional<Raised> CheckRaised(Body& body, const ast::Expr& error, const Where& where) {
  const ast::Expr* named = &error;
  const auto* call = ast::DynAs<ast::CallExpr>(error);
  if (call != nullptr) named = call->callee.get();
  Raised raised;
  std::string message;
  const bool known = ResolveError(body, *named, raised.code, message);
  raised.message = MakeText(body, message, error.span);
  if (call == nullptr) return known ? std::optional(std::move(raised)) : std::nullopt;
  if (call->arguments.size() > 1) {
    body.env.Report(call->arguments[1].span, kTooManyArguments,
                    {std::string(body.env.input.sources.Text(named->span)), "1 argument, its message", call->arguments.size()});
    return std::nullopt;
  }
  if (call->arguments.empty()) return known ? std::optional(std::move(raised)) : std::nullopt;
  ExprPtr text = CheckAs(body, *call->arguments[0].value, body.env.types.Simple(TypeKind::kString), where.Inside("a message", error.span));
  if (IsPoison(*text) || !known) return std::nullopt;
  if (text->kind != ExprKind::kText) {
    raised.message = MakeText(body, "{}", text->span);
    raised.message->args.push_back(std::move(text));
  } else {
    raised.message = std::move(text);
  }
  return raised;
}

void ReportFailMissing(Body& body, const ast::Expr& error) {
  const Span before{error.span.file, error.span.begin, error.span.begin};
  body.env.Report(error.span, kFailMissing).Fix(before, "fail ");
}

std::optional<BlockStep> CheckRequire(Body& body, const ast::RequireStmt& stmt, const Where& where) {
  bool sound = MayFail(body, stmt.span, "`require` may fail", where);
  BlockStep step;
  step.is_let = false;
  step.span = stmt.span;
  step.value = CheckAs(body, *stmt.condition, body.env.types.Scalar(DType::kBool), where.Inside("a condition", stmt.condition->span));
  sound = sound && !IsPoison(*step.value);
  if (!stmt.otherwise) {
    step.code = code::kInputParams;
    step.message = MakeText(body, "`" + std::string(body.env.input.sources.Text(stmt.condition->span)) + "` does not hold", stmt.span);
  } else {
    const auto* fail = ast::DynAs<ast::FailExpr>(*stmt.otherwise);
    auto raised = CheckRaised(body, fail != nullptr ? *fail->error : *stmt.otherwise, where);
    if (fail == nullptr && raised) ReportFailMissing(body, *stmt.otherwise);
    sound = sound && raised.has_value();
    if (raised) {
      step.code = raised->code;
      step.message = std::move(raised->message);
    }
  }
  return sound ? std::optional(std::move(step)) : std::nullopt;
}

ExprPtr CheckBlock(Body& body, const ast::Block& block, TypeRef wanted, Where where) {
  const bool is_loop = std::exchange(where.is_loop, false);
  const Scope scope(body, block.statements);
  const uint32_t mark = body.NextSymbol();
  ExprPtr whole = Make(ExprKind::kBlock, body.env.types.Error(), block.span);
  bool sound = true;
  const auto move_on = [&] {
    if (where.may_wait) where.holder = Where::Holder::kLet;
    if (where.may_wait) where.n_above = static_cast<LocalId>(body.locals.size());
  };
  for (const ast::StmtPtr& stmt : block.statements) {
    move_on();
    std::optional<BlockStep> step;
    if (const auto* let = ast::DynAs<ast::LetStmt>(*stmt)) step = CheckLet(body, *let, where);
    if (const auto* require = ast::DynAs<ast::RequireStmt>(*stmt)) step = CheckRequire(body, *require, where);
    if (stmt->kind == ast::StmtKind::kErrorStmt) body.silenced = true;
    sound = sound && step.has_value();
    if (step) whole->steps.push_back(std::move(*step));
  }
  if (block.fallback && !is_loop) {
    body.env.Report(block.fallback->span, kElseHere);
    SkipUnchecked(body, *block.fallback);
  }
  if (!block.value) return Poison(body, block.span);
  move_on();
  ExprPtr value = CheckExpr(body, *block.value, wanted, where);
  if (block.statements.empty()) return value;
  if (!sound || IsPoison(*value)) return Poison(body, block.span);
  whole->type = value->type;
  whole->span = value->span;
  whole->args.push_back(std::move(value));
  Settle(body, *whole, mark);
  return whole;
}

ExprPtr CheckIf(Body& body, const ast::IfExpr& expr, TypeRef wanted, const Where& where) {
  const TypeRef bool_type = body.env.types.Scalar(DType::kBool);
  const Where inside = wanted != nullptr ? where : where.Soft();
  std::vector<ExprPtr> conditions;
  std::vector<ArmCheck> arms;
  const auto add = [&](const ast::Block& block) {
    const Certainty certainty = block.value ? CertaintyOf(body, *block.value) : Certainty::kWhole;
    arms.push_back({certainty, [&body, &block, &inside](TypeRef hint) { return CheckBlock(body, block, hint, inside); }});
  };
  bool sound = true;
  for (const ast::IfExpr::Arm& arm : expr.arms) {
    conditions.push_back(CheckAs(body, *arm.condition, bool_type, where.Inside("a condition", arm.condition->span)));
    sound = sound && !IsPoison(*conditions.back());
    add(arm.block);
  }
  add(expr.otherwise);
  const uint32_t mark = body.NextSymbol();
  std::vector<ExprPtr> values;
  const TypeRef joined = CheckArms(body, arms, wanted, inside, values);
  if (!sound || joined->kind == TypeKind::kError) return Poison(body, expr.span);
  return FillIf(body, Make(ExprKind::kIf, joined, expr.span), std::move(conditions), std::move(values), mark);
}

ExprPtr CheckFail(Body& body, const ast::FailExpr& expr, const Where& where) {
  const bool here = MayFail(body, expr.span, "`fail` ends the computation", where);
  auto raised = CheckRaised(body, *expr.error, where);
  if (!here || !raised) return Poison(body, expr.span);
  ExprPtr fail = Make(ExprKind::kFail, body.env.types.Simple(TypeKind::kNever), expr.span);
  fail->code = raised->code;
  fail->args.push_back(std::move(raised->message));
  return fail;
}

Fallback CheckFallback(Body& body, const Otherwise& otherwise, ExprPtr& value, uint32_t mark) {
  Types& types = body.env.types;
  const Scope scope(body);
  const TypeRef text = types.Simple(TypeKind::kString);
  const LocalId err = body.Declare(LocalKind::kErr, {"err", otherwise.declared},
                                   types.Record("", {{"code", types.Scalar(DType::kI32)}, {"message", text}, {"node", text}}));
  Where where;
  where.workflow = where.may_wait = true;
  where.what = "a fallback";
  where.span = otherwise.expr.span;
  where.holder = body.loops_around > 0 ? Where::Holder::kLet : Where::Holder::kNode;
  where.n_above = err;
  where.wanted_by = otherwise.wanted_by;
  const bool is_written = otherwise.written != nullptr && !IsPoison(*value);
  ExprPtr other = is_written
                      ? CheckAs(body, otherwise.expr, otherwise.written, where, where.origin())
                      : CheckExpr(body, otherwise.expr, value->type, where.Soft());  // of an error: nothing is said of what would fit it
  if (IsPoison(*value) || IsPoison(*other)) return {nullptr, err};
  TypeRef joined = Join(body.env.types, value->type, other->type);
  if (joined == nullptr) {
    body.env.Report(other->span, kTypeMismatch, {ToString(value->type), ToString(other->type)})
        .Label(value->span, body.loops_around > 0 ? "the element" : "the value of the node")
        .HelpIf(HelpToFit(body, value->type, *other));
    return {nullptr, err};
  }
  joined = WithoutBorn(body, joined, mark);
  other = Coerce(body, std::move(other), joined);
  value = Coerce(body, std::move(value), joined);
  if (IsPoison(*other) || IsPoison(*value)) return {nullptr, err};
  if (other->type->kind != TypeKind::kNever) value->type = joined;
  Settle(body, *value, mark);
  return {std::move(other), err};
}

}  // namespace wf::sema
