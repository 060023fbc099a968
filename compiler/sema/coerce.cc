// Making a value fit the type that is wanted, and finding the type that two values share.

#include <algorithm>

#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/help.h"
#include "compiler/sema/names.h"
#include "compiler/sema/waiting.h"

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

// The wanted type where it says more, the found one where `wanted` has `_`.
TypeRef Merge(Types& types, TypeRef wanted, TypeRef found) {
  if (found->kind != TypeKind::kTensor || wanted->kind != TypeKind::kTensor) {
    if (wanted->kind == TypeKind::kRecord && wanted->name.empty() && found->kind == TypeKind::kRecord) {
      std::vector<Field> fields = wanted->fields;
      for (size_t i = 0; i < fields.size(); ++i) fields[i].type = Merge(types, fields[i].type, found->fields[i].type);
      return types.Record("", std::move(fields));
    }
    return wanted;
  }
  std::vector<Dim> dims = wanted->dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (IsAny(dims[i])) dims[i] = found->dims[i];
  }
  return types.Tensor(wanted->dtype, std::move(dims));
}

// True when the dimensions agree or a check was planted.
bool AgreeDims(Body& body, Expr& expr, TypeRef target, const std::vector<DimPair>& pairs, const std::optional<Origin>& origin) {
  for (const DimPair& pair : pairs) {
    if (IsAny(pair.wanted) || pair.wanted == pair.found) continue;
    if (!Dim::ProvedDifferent(pair.wanted, pair.found) && !pair.nested && !IsAny(pair.found)) {
      const std::string member = pair.member.empty() && origin ? std::string(origin->member) : pair.member;
      const std::string of = member.empty() ? "" : "of `" + member + "` ";
      const std::string told = pair.wanted.is_constant() ? "is {1}, wanted {0}" : ExtentText(pair.wanted, false);
      DimCheck check = CheckOf(body, pair.wanted, pair.found, "axis " + std::to_string(pair.axis) + " " + of + told);
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

// What is `none` or `[]`, or holds one, is of the wanted type, and so is what stands in it: in a list, in the arms of an `if`, at the end
// of a block.
void GiveType(Expr& expr, TypeRef target) {
  if (!expr.type->is_open || expr.type->kind == TypeKind::kNever) return;
  expr.type = target;
  if (expr.kind == ExprKind::kRecord) {
    for (size_t i = 0; i < expr.args.size(); ++i) GiveType(*expr.args[i], target->fields[i].type);
    return;
  }
  const bool holds =
      expr.kind == ExprKind::kList || expr.kind == ExprKind::kListLoop || expr.kind == ExprKind::kEach || expr.kind == ExprKind::kSome;
  if (!holds && expr.kind != ExprKind::kIf && expr.kind != ExprKind::kBlock) return;
  for (const ExprPtr& arg : expr.args) GiveType(*arg, holds ? target->element : target);  // conditions have a type
}

ExprPtr CoerceToOptional(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin) {
  if (expr->type->kind == TypeKind::kNone) {
    GiveType(*expr, target);
    return expr;
  }
  const Span span = expr->span;
  ExprPtr inner = Coerce(body, std::move(expr), target->element, origin);
  if (IsPoison(*inner)) return inner;
  ExprPtr some = Make(ExprKind::kSome, target, span);
  some->args.push_back(std::move(inner));
  return some;
}

uint32_t IndexOf(TypeRef record, const std::string& member) {
  const std::vector<Field>& fields = record->fields;
  return static_cast<uint32_t>(std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == member; }) -
                               fields.begin());
}

// The tuple with its members, and those of tuples in it, where `wanted` has them. Members that differ stay as they are.
TypeRef InOrderOf(Types& types, TypeRef wanted, TypeRef found) {
  const auto is_tuple = [](TypeRef type) { return type->kind == TypeKind::kRecord && type->name.empty(); };
  if (wanted == found || !is_tuple(wanted) || !is_tuple(found) || wanted->fields.size() != found->fields.size()) return found;
  std::vector<Field> fields;
  for (const Field& field : wanted->fields) {
    const uint32_t at = IndexOf(found, field.name);
    if (at == found->fields.size()) return found;
    fields.push_back({field.name, InOrderOf(types, field.type, found->fields[at].type)});
  }
  return types.Record("", std::move(fields));
}

class Reorder {
 public:
  Reorder(Body& body, LocalId tuple, const Span& span) : body_(body), tuple_(tuple), span_(span) {}

  ExprPtr As(TypeRef wanted) {
    const TypeRef found = Read()->type;
    const TypeRef type = InOrderOf(body_.env.types, wanted, found);
    if (type == found) return Read();
    ExprPtr made = Make(ExprKind::kRecord, type, span_);
    for (const Field& field : type->fields) {
      path_.push_back(IndexOf(found, field.name));
      made->args.push_back(As(field.type));
      path_.pop_back();
    }
    return made;
  }

 private:
  ExprPtr Read() {
    ExprPtr value = ReadLocal(body_, tuple_, span_);
    for (const uint32_t index : path_) {
      ExprPtr member = Make(ExprKind::kField, value->type->fields[index].type, span_);
      member->index = index;
      member->args.push_back(std::move(value));
      value = std::move(member);
    }
    return value;
  }

  Body& body_;
  const LocalId tuple_;
  const Span span_;
  std::vector<uint32_t> path_;  // to the member under way
};

}  // namespace

ExprPtr InOrder(Body& body, ExprPtr expr, TypeRef wanted) {
  if (InOrderOf(body.env.types, wanted, expr->type) == expr->type) return expr;
  const Span span = expr->span;
  if (expr->kind == ExprKind::kLocal) return Reorder(body, expr->local, span).As(wanted);
  BlockStep step;
  step.span = span;
  step.local = body.Declare(LocalKind::kLet, {"_", span}, expr->type);
  step.value = std::move(expr);
  ExprPtr made = Reorder(body, step.local, span).As(wanted);
  ExprPtr whole = Make(ExprKind::kBlock, made->type, span);
  whole->steps.push_back(std::move(step));
  whole->args.push_back(std::move(made));
  constexpr uint32_t kAll = 0;  // symbols that came into being in `expr` are not told from others
  Settle(body, *whole, kAll);
  return whole;
}

ExprPtr Coerce(Body& body, ExprPtr expr, TypeRef target, const std::optional<Origin>& origin) {
  expr = InOrder(body, std::move(expr), target);
  const TypeRef found = expr->type;
  if (found->kind == TypeKind::kError || found->kind == TypeKind::kNever || target->kind == TypeKind::kError || found == target)
    return expr;
  if (target->kind == TypeKind::kOptional && found->kind != TypeKind::kOptional) {
    return CoerceToOptional(body, std::move(expr), target, origin);
  }
  std::vector<DimPair> pairs;
  if (!MatchTypes(body.env.types, target, found, nullptr, pairs)) {
    ReportMismatch(body, *expr, target, origin);
    return Poison(body, expr->span);
  }
  if (!AgreeDims(body, *expr, target, pairs, origin)) return Poison(body, expr->span);
  const TypeRef merged = Merge(body.env.types, target, found);
  if (found->is_open) GiveType(*expr, merged);
  expr->type = merged;
  return expr;
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

}  // namespace

std::optional<std::string> HelpToFit(const Body& body, TypeRef wanted, const Expr& value) {
  const TypeRef found = value.type;
  const bool numbers = (wanted->kind == TypeKind::kScalar || wanted->kind == TypeKind::kTensor) && wanted->kind == found->kind;
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
  return "convert it: `" + convert + "(..)`";
}

ExprPtr CheckAs(Body& body, const ast::Expr& expr, TypeRef target, const Where& where, const std::optional<Origin>& origin) {
  return Coerce(body, CheckExpr(body, expr, target, where.Hard(origin ? &*origin : nullptr)), target, origin);
}

ExprPtr FitPart(Body& body, ExprPtr value, TypeRef target, const Where& where) {
  const std::optional<Origin> origin = where.origin();
  if (!where.soft || value->type->is_open) return Coerce(body, std::move(value), target, origin);
  const TypeRef wanted = BelowOptional(target, *value);
  value = InOrder(body, std::move(value), wanted);
  std::vector<DimPair> pairs;
  if (!MatchTypes(body.env.types, wanted, value->type, nullptr, pairs)) return Coerce(body, std::move(value), target, origin);
  return wanted == target ? std::move(value) : MakeSome(body, std::move(value));
}

ExprPtr CheckPart(Body& body, const ast::Expr& expr, TypeRef target, const Where& where) {
  return FitPart(body, CheckExpr(body, expr, target, where), target, where);
}

TypeRef Join(Body& body, TypeRef a, TypeRef b) {
  Types& types = body.env.types;
  b = InOrderOf(types, a, b);
  if (a == b) return a;
  if (a->kind == TypeKind::kError || b->kind == TypeKind::kError) return types.Error();
  if (a->kind == TypeKind::kNever) return b;
  if (b->kind == TypeKind::kNever) return a;
  if (a->kind == TypeKind::kNone && b->kind != TypeKind::kOptional) return types.Optional(b);
  if (b->kind == TypeKind::kNone && a->kind != TypeKind::kOptional) return types.Optional(a);
  if (a->kind == TypeKind::kNone) return b;
  if (b->kind == TypeKind::kNone) return a;
  if (a->kind == TypeKind::kOptional || b->kind == TypeKind::kOptional) {
    const TypeRef element = Join(body, a->kind == TypeKind::kOptional ? a->element : a, b->kind == TypeKind::kOptional ? b->element : b);
    return element == nullptr || element->kind == TypeKind::kError ? element : types.Optional(element);
  }
  if (a->kind != b->kind) return nullptr;
  if (a->kind == TypeKind::kTensor) {
    if (a->dtype != b->dtype || a->dims.size() != b->dims.size()) return nullptr;
    std::vector<Dim> dims = a->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != b->dims[i]) dims[i] = AnyDim();
    }
    return types.Tensor(a->dtype, std::move(dims));
  }
  if (a->kind == TypeKind::kList || a->kind == TypeKind::kMap) {
    const TypeRef element = Join(body, a->element, b->element);
    if (element == nullptr) return nullptr;
    return a->kind == TypeKind::kList ? types.List(element) : types.Map(element);
  }
  if (a->kind != TypeKind::kRecord || !a->name.empty() || !b->name.empty() || a->fields.size() != b->fields.size()) return nullptr;
  std::vector<Field> fields = a->fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name != b->fields[i].name) return nullptr;
    fields[i].type = Join(body, fields[i].type, b->fields[i].type);
    if (fields[i].type == nullptr) return nullptr;
  }
  return types.Record("", std::move(fields));
}

}  // namespace wf::sema
