// Lists and named tuples as written.

#include <algorithm>
#include <unordered_map>

#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "runtime/abi/values.h"

namespace wf::sema {
namespace {

ExprPtr Stacked(Body& body, ExprPtr list, DType dtype, std::vector<Dim> dims) {
  if (HasTooManyAxes(body, dims.size(), list->span)) return Poison(body, list->span);
  ExprPtr stacked = Make(ExprKind::kBuiltin, body.env.types.Tensor(dtype, std::move(dims)), list->span);
  stacked->index = static_cast<uint32_t>(Builtin::kStack);
  stacked->args.push_back(std::move(list));
  return stacked;
}

}  // namespace

bool HasTooManyAxes(Body& body, size_t axes, const Span& span) {
  if (axes <= WF_MAX_RANK) return false;
  body.env.Report(span, kTooManyAxes, {"this tensor", axes, int{WF_MAX_RANK}});
  return true;
}

bool HaveOneShape(Body& body, const std::vector<ExprPtr>& parts) {
  for (const ExprPtr& part : parts) {
    const TypeRef first = parts[0]->type;
    if (first->dims.size() != part->type->dims.size()) continue;  // `fail E` has none
    for (uint32_t axis = 0; axis < part->type->dims.size(); ++axis) {
      const DimPair pair{first->dims[axis], part->type->dims[axis], axis};
      if (!Dim::ProvedDifferent(pair.wanted, pair.found)) continue;
      auto builder = body.env.Report(part->span, kShapeMismatch,
                                     {ToString(first), ToString(part->type), axis, pair.found.ToString(), pair.wanted.ToString()});
      builder.Here(AxisText(pair)).Label(parts[0]->span, "stacked with this `" + ToString(first) + "`");
      LabelOrigins(body, {pair.found, pair.wanted}, builder);
      LabelSource(body, *part, builder);
      return false;
    }
  }
  return true;
}

namespace {

// [1, 2] where a tensor is wanted: its elements stacked along a new first axis.
ExprPtr CheckTensorLiteral(Body& body, const ast::ListExpr& expr, TypeRef wanted, const Where& where) {
  Types& types = body.env.types;
  const std::vector<Dim> inner(wanted->dims.begin() + 1, wanted->dims.end());
  const TypeRef element = inner.empty() ? types.Scalar(wanted->dtype) : types.Tensor(wanted->dtype, inner);
  ExprPtr list = Make(ExprKind::kList, types.List(element), expr.span);
  std::optional<Origin> of_rows = inner.empty() ? std::nullopt : where.origin();
  if (of_rows) ++of_rows->axes_around;
  const Where inside = of_rows ? where.For(&*of_rows) : where;
  bool sound = true;
  diag::Emitter::Elements told(body.env.diag);
  for (const ast::ExprPtr& item : expr.elements) {
    told.Next(item->span);
    ExprPtr part = CheckPart(body, *item, element, inside);
    const bool is_element = part->type->kind == element->kind || part->type->kind == TypeKind::kNever;
    list->args.push_back(is_element ? std::move(part) : Coerce(body, std::move(part), element, inside.origin()));
    sound = sound && !IsPoison(*list->args.back());
  }
  if (!sound || !HaveOneShape(body, list->args)) return Poison(body, expr.span);
  std::vector<Dim> dims{Dim(static_cast<int64_t>(expr.elements.size()))};
  const auto has_shape = [](const ExprPtr& item) { return item->type->kind != TypeKind::kNever; };
  const auto first = std::find_if(list->args.begin(), list->args.end(), has_shape);
  const TypeRef shape = first == list->args.end() ? element : (*first)->type;
  const bool have_one = std::all_of(list->args.begin(), list->args.end(), [&](const ExprPtr& item) { return item->type == shape; });
  if (have_one && shape->kind == TypeKind::kTensor) {
    list->type = types.List(shape);  // nothing is left to be compared when it runs
  } else if (where.soft) {           // none was compared with what is wanted
    TypeRef joined = shape;
    for (const ExprPtr& item : list->args) joined = Join(types, joined, item->type);
    list->type = types.List(joined);
  }
  dims.insert(dims.end(), shape->dims.begin(), shape->dims.end());
  return Stacked(body, std::move(list), wanted->dtype, std::move(dims));
}

// The type of all elements as far as they are known, and of one more; Error after a report.
TypeRef JoinElement(Body& body, TypeRef element, const Expr& item) {
  const TypeRef joined = Join(body.env.types, element, item.type);
  if (joined != nullptr) return joined;
  body.env.Report(item.span, kTypeMismatch, {ToString(element), ToString(item.type)}).Help("the elements of a list have one type");
  return body.env.types.Error();
}

// Poison where an element is. `mark`: of what was there before the list.
ExprPtr WithElements(Body& body, ExprPtr list, TypeRef element, uint32_t mark) {
  if (element->kind == TypeKind::kError) return Poison(body, list->span);
  element = WithoutBorn(body, element, mark);
  for (ExprPtr& item : list->args) item = Coerce(body, std::move(item), element);
  list->type = body.env.types.List(element);
  return list;
}

ExprPtr CheckTypedList(Body& body, const ast::ListExpr& expr, TypeRef wanted, const Where& where) {
  const uint32_t mark = body.NextSymbol();
  ExprPtr list = Make(ExprKind::kList, wanted, expr.span);
  TypeRef element = body.env.types.Simple(TypeKind::kNever);
  diag::Emitter::Elements told(body.env.diag);
  for (const ast::ExprPtr& item : expr.elements) {
    told.Next(item->span);
    list->args.push_back(CheckPart(body, *item, wanted->element, where));
    element = JoinElement(body, element, *list->args.back());
  }
  return element->kind == TypeKind::kNever ? std::move(list) : WithElements(body, std::move(list), element, mark);
}

}  // namespace

ExprPtr CheckList(Body& body, const ast::ListExpr& expr, TypeRef wanted, const Where& where) {
  Types& types = body.env.types;
  if (wanted != nullptr && wanted->kind == TypeKind::kOptional) wanted = wanted->element;
  if (wanted != nullptr && wanted->kind == TypeKind::kTensor && wanted->dtype != DType::kNone) {
    return CheckTensorLiteral(body, expr, wanted, where);
  }
  if (wanted != nullptr && wanted->kind == TypeKind::kList) return CheckTypedList(body, expr, wanted, where);
  const bool is_tensor = wanted != nullptr && wanted->kind == TypeKind::kTensor;  // of what its elements turn out to be
  TypeRef part = wanted != nullptr && wanted->kind == TypeKind::kError ? wanted : nullptr;
  if (is_tensor && wanted->dims.size() > 1) {
    Type row = *wanted;
    row.dims.erase(row.dims.begin());
    part = types.Intern(std::move(row));
  }
  const uint32_t mark = body.NextSymbol();
  ExprPtr list = Make(ExprKind::kList, types.Error(), expr.span);
  list->args.resize(expr.elements.size());
  TypeRef element = types.Simple(TypeKind::kNever);
  const Expr* first = nullptr;  // that says what the others are
  std::vector<Certainty> certainties;
  for (const ast::ExprPtr& item : expr.elements) certainties.push_back(CertaintyOf(body, *item));
  for (const Certainty certainty : kCertainties) {
    for (size_t i = 0; i < expr.elements.size(); ++i) {
      if (certainties[i] != certainty) continue;
      const bool is_alone = first == nullptr;
      const Origin beside{is_alone ? expr.span : first->span, "the element beside it is `" + ToString(element) + "`"};
      list->args[i] = CheckExpr(body, *expr.elements[i], is_alone ? part : element, is_alone ? where : where.Soft().For(&beside));
      element = JoinElement(body, element, *list->args[i]);
      if (is_alone && element->kind != TypeKind::kNever) first = list->args[i].get();
    }
  }
  list = WithElements(body, std::move(list), element, mark);
  if (IsPoison(*list)) return list;
  if (!is_tensor || (element->kind != TypeKind::kScalar && element->kind != TypeKind::kTensor)) return list;
  if (!HaveOneShape(body, list->args)) return Poison(body, expr.span);
  std::vector<Dim> dims = element->dims;
  dims.insert(dims.begin(), Dim(static_cast<int64_t>(expr.elements.size())));
  ExprPtr stacked = Stacked(body, std::move(list), element->dtype, std::move(dims));
  SettleRead(body, *stacked);
  return stacked;
}

namespace {

// A field of a tuple; where its type is written, that is why it is wanted.
ExprPtr CheckField(Body& body, const ast::TupleExpr::Field& field, TypeRef target, const Where& where) {
  const ast::Type* written = where.wanted_by != nullptr ? where.wanted_by->written : nullptr;
  if (written == nullptr || written->kind != ast::Type::Kind::kTuple) return CheckPart(body, *field.value, target, where);
  const auto same = [&](const ast::Type::Field& other) { return other.label.text == field.label.text; };
  const auto at = std::find_if(written->fields.begin(), written->fields.end(), same);
  if (at == written->fields.end()) return CheckPart(body, *field.value, target, where);
  body.env.NoteUse(field.label.span, at->label.span);
  const Origin origin{at->span, where.wanted_by->text, at->type.get(), {}, field.label.text};
  return CheckPart(body, *field.value, target, where.For(&origin));
}

}  // namespace

ExprPtr CheckTuple(Body& body, const ast::TupleExpr& expr, TypeRef wanted, const Where& where) {
  if (HasTooManyParts(body.env, expr.fields.size(), kTupleHas, expr.span)) return SkipUnchecked(body, expr);
  if (wanted != nullptr && wanted->kind == TypeKind::kOptional) wanted = wanted->element;
  const bool typed = wanted != nullptr && wanted->kind == TypeKind::kRecord && wanted->name.empty();
  std::unordered_map<std::string_view, TypeRef> hints;
  if (typed) {
    for (const Field& field : wanted->fields) hints.emplace(field.name, field.type);
  }
  std::vector<Field> fields;
  std::vector<ExprPtr> values;
  std::unordered_map<std::string_view, size_t> places;  // of fields
  bool sound = true;
  for (const ast::TupleExpr::Field& field : expr.fields) {
    if (!places.emplace(field.label.text, fields.size()).second) {
      const auto same = [&](const ast::TupleExpr::Field& other) { return other.label.text == field.label.text; };
      const Span first = std::find_if(expr.fields.begin(), expr.fields.end(), same)->label.span;
      body.env.Report(field.label.span, kDuplicateName, {field.label.text}).Label(first, "first declared here");
      sound = false;
      continue;
    }
    const auto hint = hints.find(field.label.text);
    values.push_back(hint != hints.end() ? CheckField(body, field, hint->second, where) : CheckExpr(body, *field.value, nullptr, where));
    sound = sound && !IsPoison(*values.back());
    fields.push_back({field.label.text, values.back()->type});
  }
  if (!sound) return Poison(body, expr.span);
  ExprPtr record = Make(ExprKind::kRecord, body.env.types.Error(), expr.span);
  const auto is_there = [&](const Field& field) { return places.contains(field.name); };
  if (typed && fields.size() == wanted->fields.size() && std::all_of(wanted->fields.begin(), wanted->fields.end(), is_there)) {
    std::vector<Field> sorted;  // by name: the order written does not matter
    for (const Field& want : wanted->fields) {
      const size_t at = places.at(want.name);
      sorted.push_back(fields[at]);
      record->args.push_back(std::move(values[at]));
    }
    record->type = body.env.types.Record("", std::move(sorted));
    return record;
  }
  record->type = body.env.types.Record("", std::move(fields));  // where another is wanted, the reader reports the difference
  if (HasTooManyParts(body.env, record->type->parts, kTupleHas, expr.span)) return Poison(body, expr.span);
  record->args = std::move(values);
  return record;
}

}  // namespace wf::sema
