// Making a value fit the type that is wanted.

#include <algorithm>
#include <cmath>

#include "compiler/ir/scalar.h"
#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/help.h"
#include "compiler/sema/names.h"
#include "compiler/sema/waiting.h"
#include "compiler/sema/walk.h"

namespace wf::sema {
namespace {

void ReportMismatch(Body& body, const Expr& expr, TypeRef target, const std::optional<Origin>& origin) {
  const bool ranks = target->kind == TypeKind::kTensor && expr.type->kind == TypeKind::kTensor && target->dtype == expr.type->dtype;
  auto builder = ranks ? body.env.Report(expr.span, kRankMismatch,
                                         {ToString(target), ToString(expr.type), target->dims.size(), expr.type->dims.size()})
                       : body.env.Report(expr.span, kTypeMismatch, {ToString(target), ToString(expr.type)});
  if (origin) builder.Label(origin->span, origin->text);
  if (ranks) LabelSource(body, expr, builder);
  builder.HelpIf(HelpToFit(body, target, expr));
  if (expr.type->kind != TypeKind::kOptional || expr.type->element != target) return;
  builder.Help(expr.kind == ExprKind::kCoalesce ? "right of `??` stands what may be none itself; write a value that never is"
                                                : "give it a value with `??`");
}

// `tensor.reshape` to what is wanted, where that only has more axes of 1.
std::optional<std::string> HelpToReshape(TypeRef wanted, TypeRef found) {
  std::string extents;
  size_t at = 0;
  for (const Dim& dim : wanted->dims) {
    const bool same = at < found->dims.size() && dim == found->dims[at];
    if (!same && dim.constant() != 1) return std::nullopt;
    at += same ? 1 : 0;
    extents += ", " + dim.ToString();
  }
  if (at != found->dims.size() || wanted->dims.size() == at) return std::nullopt;
  return "`tensor.reshape(x" + extents + ")` of std.tensor has the axes of 1";
}

// What becomes of `_` in what is wanted: a name of that type is of any extent; what a part is found to have stays known.
enum class Open : uint8_t { kWanted, kFound };

// The wanted type where it says more, the found one where a tensor's has `_`; with kFound also that of one in a list or an optional.
TypeRef Merge(Types& types, TypeRef wanted, TypeRef found, Open open) {
  if (wanted == found || wanted->kind != found->kind) return wanted;
  if (wanted->kind == TypeKind::kRecord && wanted->name.empty()) {
    std::vector<Field> fields = wanted->fields;
    for (size_t i = 0; i < fields.size(); ++i) fields[i].type = Merge(types, fields[i].type, found->fields[i].type, open);
    return types.Record("", std::move(fields));
  }
  if (wanted->kind == TypeKind::kTensor) {
    std::vector<Dim> dims = wanted->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (IsAny(dims[i])) dims[i] = found->dims[i];
    }
    return types.Tensor(wanted->dtype, std::move(dims));
  }
  if (open == Open::kWanted || wanted->element == nullptr) return wanted;
  Type merged = *wanted;
  merged.element = Merge(types, wanted->element, found->element, open);
  return types.Intern(std::move(merged));
}

// True when the dimensions agree or a check was planted.
bool AgreeDims(Body& body, Expr& expr, TypeRef target, const std::vector<DimPair>& pairs, const std::optional<Origin>& origin) {
  for (const DimPair& pair : pairs) {
    if (IsAny(pair.wanted) || pair.wanted == pair.found) continue;
    if (!Dim::ProvedDifferent(pair.wanted, pair.found) && !pair.nested && !IsAny(pair.found)) {
      const std::string member = pair.member.empty() && origin ? std::string(origin->member) : pair.member;
      const std::string of = member.empty() ? "" : "of `" + member + "` ";
      const std::string told = pair.wanted.is_constant() ? "is {1}, wanted {0}" : ExtentText(pair.wanted, false);
      const uint32_t axis = pair.axis + (origin ? origin->axes_around : 0);
      DimCheck check = CheckOf(body, pair.wanted, pair.found, "axis " + std::to_string(axis) + " " + of + told);
      check.is_held = Holds(HeldBy(body, expr), check.left, check.right);
      expr.checks.push_back(std::move(check));
      continue;
    }
    auto builder = body.env.Report(expr.span, kShapeMismatch,
                                   {ToString(target), ToString(expr.type), pair.axis, pair.found.ToString(), pair.wanted.ToString()});
    builder.Here(AxisText(pair));
    if (origin) builder.Label(origin->span, origin->text);
    if (origin && !origin->help.empty()) builder.Help(std::string(origin->help));
    LabelOrigins(body, {pair.found, pair.wanted}, builder);
    LabelSourceOf(body, expr, pair.found, builder);
    builder.HelpIf(HelpWithDivision(pair.wanted, pair.found));
    if (pair.nested && !Dim::ProvedDifferent(pair.wanted, pair.found)) builder.Help(HelpToCompareParts(body, target, expr));
    return false;
  }
  return true;
}

ExprPtr Fitted(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin, Open open);

ExprPtr FittedToOptional(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin, Open open) {
  if (expr->type->kind == TypeKind::kNone) {
    GiveType(*expr, target);
    return expr;
  }
  ExprPtr inner = Fitted(body, std::move(expr), target->element, origin, open);
  if (IsPoison(*inner)) return inner;
  ExprPtr some = MakeSome(body, std::move(inner));
  if (open == Open::kWanted) some->type = target;
  return some;
}

ExprPtr Fitted(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin, Open open) {
  Types& types = body.env.types;
  const TypeKind kind = expr->type->kind;
  if (kind == TypeKind::kError || kind == TypeKind::kNever || target->kind == TypeKind::kError || expr->type == target) return expr;
  if (target->kind == TypeKind::kOptional && kind != TypeKind::kOptional)
    return FittedToOptional(body, std::move(expr), target, origin, open);
  std::vector<DimPair> pairs;
  if (!MatchTypes(types, target, InFormOf(types, target, expr->type), nullptr, pairs)) {
    ReportMismatch(body, *expr, target, origin);
    return Poison(body, expr->span);
  }
  expr = InForm(body, std::move(expr), target);
  pairs.clear();
  if (!MatchTypes(types, target, expr->type, nullptr, pairs)) {
    ReportMismatch(body, *expr, target, origin);
    return Poison(body, expr->span);
  }
  if (!AgreeDims(body, *expr, target, pairs, origin)) return Poison(body, expr->span);
  const TypeRef merged = Merge(types, target, expr->type, open);
  if (expr->type->is_open) GiveType(*expr, merged);
  expr->type = merged;
  return expr;
}

// `none`, `[]` and what holds them, where they fit.
bool FitsOpen(Types& types, TypeRef target, const Expr& value) {
  std::vector<DimPair> pairs;
  const TypeRef wanted = BelowOptional(target, value);
  return value.type->is_open && MatchTypes(types, wanted, InFormOf(types, wanted, value.type), nullptr, pairs);
}

// Of an open type: whether the first part of it that is open is a `none`.
bool IsOpenByNone(TypeRef type) {
  while (type->element != nullptr || !type->fields.empty()) {
    const auto is_open = [](const Field& field) { return field.type->is_open; };
    type = type->element != nullptr ? type->element : std::find_if(type->fields.begin(), type->fields.end(), is_open)->type;
  }
  return type->kind == TypeKind::kNone;
}

}  // namespace

void ReportOpen(Body& body, const Expr& value) {
  const bool is_none = IsOpenByNone(value.type), has_elements = value.kind == ExprKind::kList || value.kind == ExprKind::kListLoop;
  const bool fails = has_elements && !value.args.empty() && value.args[0]->type->kind == TypeKind::kNever;
  body.env.Report(value.span, kCannotInfer,
                  {is_none ? "`none`"
                   : fails ? "a list of what always fails"
                           : "an empty list"})
      .Help(is_none ? "a name can say it: `let x: string? = none;`" : "a name can say it: `let xs: list<string> = [];`");
}

// What stands in it is of that type, too: in a list, in the arms of an `if`, at the end of a block.
void GiveType(Expr& expr, TypeRef target) {
  if (!expr.type->is_open || expr.type->kind == TypeKind::kNever) return;
  expr.type = target;
  ForEachPart(expr, target, [](const ExprPtr& part, TypeRef type) { GiveType(*part, type); });
}

ExprPtr Coerce(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin) {
  return Fitted(body, std::move(expr), target, origin, Open::kWanted);
}

std::string ReadOfMember(const Body& body, const Expr& record, const std::string& member) {
  return "`" + CodeAt(body, record.span, "..") + "." + member + "`";
}

namespace {

// The one of several results that has the type that is wanted.
std::optional<std::string> HelpToRead(const Body& body, TypeRef wanted, const Expr& found) {
  const std::vector<Field>& fields = found.type->fields;
  const auto fits = [&](const Field& field) { return field.type == wanted; };
  if (found.type->kind != TypeKind::kRecord || !found.type->name.empty()) return std::nullopt;
  if (std::count_if(fields.begin(), fields.end(), fits) != 1) return std::nullopt;
  const std::string read = ReadOfMember(body, found, std::find_if(fields.begin(), fields.end(), fits)->name);
  return fields.size() == 1 ? "it holds one result: " + read : read + " is the one of its results that has this type";
}

// The first fields of a record show how it is built.
std::string HelpToBuild(const Module& module, TypeRef record) {
  constexpr size_t kMostShown = 3;
  std::string fields;
  for (size_t i = 0; i < std::min(record->fields.size(), kMostShown); ++i) fields += (i == 0 ? "" : ", ") + record->fields[i].name + ": ..";
  if (record->fields.size() > kMostShown) fields += ", ..";
  return "a record with a name is built by it: `" + NameIn(module, record) + "(" + fields + ")`";
}

// What bytes may be text of. That is seen when they are read, so it is no constant.
std::string HelpWithBytes(const Body& body, const Expr& bytes) {
  const auto* constant = body.self != nullptr ? ast::DynAs<ast::ConstDecl>(*body.self) : nullptr;
  if (constant == nullptr) return "`str(" + CodeAt(body, bytes.span, "b") + ")` is its text";
  const std::string& name = constant->name.text;
  return "a constant holds the bytes, `const " + name + ": bytes = ..;`, and `str(" + name + ")` is their text where it is needed";
}

bool IsQuotient(const Expr& value) { return value.kind == ExprKind::kBinary && value.binary == BinaryOp::kDiv; }

// The first division of integers in a chain of operators; null: there is none.
const Expr* FindQuotient(const Expr& value) {
  const Expr* found = nullptr;
  for (const Expr* at = &value; at->kind == ExprKind::kBinary || at->kind == ExprKind::kUnary; at = at->args[0].get()) {
    const bool is_right = at->kind == ExprKind::kBinary && IsQuotient(*at->args[1]);
    if (IsQuotient(*at) || is_right) found = IsQuotient(*at) ? at : at->args[1].get();
  }
  return found;
}

// `f32(x) / 2` of `x / 2`: a literal takes the type of the other side.
std::string QuotientOf(const Body& body, const Expr& quotient, const std::string& convert) {
  std::string text;
  for (const ExprPtr& side : quotient.args) {
    const std::string code = CodeAt(body, side->span, text.empty() ? "a" : "b");
    const bool is_literal = side->kind == ExprKind::kScalar && !text.empty();
    text += (text.empty() ? "" : " / ") + (is_literal ? code : convert + "(" + code + ")");
  }
  return text;
}

// Of a number that is written, whose fraction `i64(2.5)` would cut off.
std::optional<std::string> HelpWithFraction(const Body& body, const Expr& value, const std::string& wanted) {
  constexpr double kExact = 9007199254740992.0;  // up to which an f64 is any integer
  const std::string code = CodeAt(body, value.span, "");
  const bool is_written = value.kind == ExprKind::kScalar && ir::IsFloat(value.type->dtype) && code.find_first_of("0123456789") <= 1;
  if (!is_written) return std::nullopt;
  const double number = ir::F64Of(ir::ConvertScalar(value.type->dtype, DType::kF64, value.bits));
  const bool is_whole = number == std::trunc(number);
  if (is_whole && std::abs(number) >= kExact) return std::nullopt;
  if (is_whole)
    return "write `" + std::to_string(static_cast<int64_t>(number)) + "`, without a point: `" + wanted + "` holds whole numbers";
  return "`" + wanted + "` holds whole numbers; for a fraction, what is `" + wanted + "` here has to be `" +
         std::string(ir::NameOf(value.type->dtype)) + "`";
}

}  // namespace

std::optional<std::string> HelpToFit(const Body& body, TypeRef wanted, const Expr& value) {
  const TypeRef found = value.type;
  const bool numbers = (wanted->kind == TypeKind::kScalar || wanted->kind == TypeKind::kTensor) && wanted->kind == found->kind;
  if (found->kind == TypeKind::kList && found->element->kind == TypeKind::kOptional) {
    if (wanted->kind == TypeKind::kList && wanted->element->kind != TypeKind::kOptional) return std::string(kHelpWithNones);
    if (wanted->kind == TypeKind::kTensor) return "`tensor.stack([x ?? y for x in xs])` of std.tensor makes a tensor of a list";
  }
  if (wanted->kind == TypeKind::kTensor && found->kind == TypeKind::kList && found->element->kind == TypeKind::kList)
    return "`tensor.stack([tensor.stack(row) for row in rows])` of std.tensor makes a matrix of a list of lists";
  if (wanted->kind == TypeKind::kTensor && found->kind == TypeKind::kList)
    return "`tensor.stack(..)` of std.tensor makes a tensor of a list";
  if (wanted->kind == TypeKind::kList && found->kind == TypeKind::kTensor) return "`list(..)` makes a list of a tensor";
  if (IsScalarBool(wanted) && found->kind == TypeKind::kTensor && found->dtype == DType::kBool) {
    const bool compared = value.kind == ExprKind::kBinary && value.binary == BinaryOp::kEq && value.args[0]->type->dtype != DType::kBool;
    return compared && IsInTest(body) ? std::string(kHelpToCompare) : "`all[i](x[i])` and `any[i](x[i])` make one `bool` of many";
  }
  if (IsScalarBool(wanted)) return HelpWithTruth(body, value, /*negated=*/false);
  if (wanted->kind == TypeKind::kString && found->kind == TypeKind::kScalar) return "`str(x)` is its text";
  if (wanted->kind == TypeKind::kString && found->kind == TypeKind::kBytes) return HelpWithBytes(body, value);
  if (auto help = HelpToRead(body, wanted, value)) return help;
  if (wanted->kind == TypeKind::kRecord && !wanted->name.empty() && found->kind == TypeKind::kRecord && found->name.empty())
    return HelpToBuild(body.module, wanted);
  if (!numbers || wanted->element != nullptr) return std::nullopt;
  if (wanted->dtype == found->dtype) return HelpToReshape(wanted, found);
  if (!IsNumeric(wanted->dtype) || wanted->dims.size() != found->dims.size()) return std::nullopt;
  const std::string convert(ir::NameOf(wanted->dtype));
  if (const Expr* quotient = ir::IsFloat(wanted->dtype) && IsInteger(found->dtype) ? FindQuotient(value) : nullptr)
    return "`/` of integers drops what is left over; convert before it: `" + QuotientOf(body, *quotient, convert) + "`";
  if (IsInteger(wanted->dtype) && wanted->kind == TypeKind::kScalar) {
    if (auto help = HelpWithFraction(body, value, convert)) return help;
  }
  return "convert it: `" + convert + "(..)`";
}

ExprPtr CheckAs(Body& body, const ast::Expr& expr, TypeRef target, const Where& where, const std::optional<Origin>& origin) {
  return Coerce(body, CheckExpr(body, expr, target, where.Hard(origin ? &*origin : nullptr)), target, origin);
}

ExprPtr FitPart(Body& body, ExprPtr value, TypeRef target, const Where& where) {
  const bool is_left = where.soft ? Join(body.env.types, target, value->type) != nullptr : FitsOpen(body.env.types, target, *value);
  return is_left ? std::move(value) : Fitted(body, std::move(value), target, where.origin(), Open::kFound);
}

ExprPtr CheckPart(Body& body, const ast::Expr& expr, TypeRef target, const Where& where) {
  return FitPart(body, CheckExpr(body, expr, target, where), target, where);
}

}  // namespace wf::sema
