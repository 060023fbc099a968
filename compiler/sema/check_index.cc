// x[..]: elements and slices of tensors, elements of lists, lookup in maps.

#include <algorithm>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/help.h"
#include "compiler/sema/rest.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

// `x[mask]`, `x[at]`, where `object` has one index: many elements at once are taken by a function.
bool ReportMany(Body& body, const Expr& object, const Expr& position) {
  const TypeRef many = position.type;
  if (many->kind != TypeKind::kTensor || many->dims.size() != 1) return false;
  const bool is_list = object.type->kind == TypeKind::kList, is_mask = many->dtype == DType::kBool;
  const std::string name = CodeAt(body, object.span, "x"), at = CodeAt(body, position.span, "at");
  auto builder = body.env.Report(position.span, kTypeMismatch, {"i64", ToString(many)});
  if (!is_list && is_mask) builder.Help("what stands where it holds is `tensor.compress(" + at + ", " + name + ")` of std.tensor");
  if (IsInteger(many->dtype))
    builder.Help("what stands at each of them is `" + std::string(is_list ? "lists" : "tensor") + ".gather(" + name + ", " + at +
                 ")` of std." + (is_list ? "lists" : "tensor"));
  return true;
}

// `object`: what it is the only index of; null: a slice of, or one of several.
ExprPtr CheckPosition(Body& body, const ast::Expr& expr, const Where& where, const Expr* object = nullptr) {
  const TypeRef i64 = body.env.types.Scalar(DType::kI64);
  ExprPtr value = CheckExpr(body, expr, i64, where.For(nullptr));
  if (object != nullptr && ReportMany(body, *object, *value)) return Poison(body, expr.span);
  value = Coerce(body, std::move(value), i64);
  const auto known = IsPoison(*value) ? std::nullopt : AsDim(body, *value);
  if (known && known->constant().value_or(0) < 0) {
    const std::string text(body.env.input.sources.Text(expr.span)), number = std::to_string(*known->constant());
    auto builder = body.env.Report(expr.span, kNegativeIndex, {text});
    if (value->kind != ExprKind::kScalar) builder.Help("`" + text + "` is " + number);
    return Poison(body, expr.span);
  }
  return value;
}

// False where the position is outside whatever the symbols are: 4 of 4, n of n. The rest is proved or checked later.
bool IsInside(Body& body, const Expr& object, const Expr& position, const Dim& extent, bool end_allowed) {
  const auto at = AsDim(body, position);
  if (!at || IsAny(extent)) return true;
  const auto beyond = (*at - extent).constant();  // the end
  if (!beyond || *beyond < (end_allowed ? 1 : 0)) return true;
  auto builder = body.env.Report(position.span, kIndexOutOfRange, {at->ToString(), extent.ToString()});
  LabelOrigins(body, {extent}, builder);
  LabelSource(body, object, builder);
  return false;
}

// An axis of what is indexed.
struct Axis {
  const Expr& object;
  size_t number;
  const Dim& extent() const { return object.type->dims[number]; }
};

// Extent of x[a:b] along `axis`; `slice` keeps the ends that are written.
std::optional<Dim> CheckSlice(Body& body, const Axis& axis, const ast::Subscript& written, Subscript& slice, const Where& where) {
  const Dim& extent = axis.extent();
  slice.is_slice = true;
  Dim from = 0, to = extent;
  if (written.first) {
    slice.first = CheckPosition(body, *written.first, where);
    if (IsPoison(*slice.first) || !IsInside(body, axis.object, *slice.first, extent, true)) return std::nullopt;
    from = slice.from = DimOf(body, *slice.first);
  }
  if (written.last) {
    slice.last = CheckPosition(body, *written.last, where);
    if (IsPoison(*slice.last) || !IsInside(body, axis.object, *slice.last, extent, true)) return std::nullopt;
    to = slice.to = DimOf(body, *slice.last);
  }
  Dim size = to - from;
  if (size.constant().value_or(0) < 0) {
    body.env.Report(written.span, kBadDimension, {size.ToString(), "the slice ends before it begins"});
    return std::nullopt;
  }
  if (ReportNoExtent(body.env, size, written.span, to.ToString() + " - (" + from.ToString() + ")")) return std::nullopt;
  return size;
}

ExprPtr IndexTensor(Body& body, const ast::IndexExpr& expr, ExprPtr object, const Where& where) {
  Types& types = body.env.types;
  const std::vector<Dim> extents = object->type->dims;
  const DType dtype = object->type->dtype;
  if (expr.subscripts.size() > extents.size()) {
    auto builder = body.env.Report(
        expr.span, kIndexCount,
        {ToString(object->type), std::to_string(extents.size()) + (extents.size() == 1 ? " axis" : " axes"), expr.subscripts.size()});
    const auto is_none = [](const ast::Subscript& at) {  // `x[None, :]`
      const auto* name = at.first ? ast::DynAs<ast::NameExpr>(*at.first) : nullptr;
      const auto* literal = at.first ? ast::DynAs<ast::LiteralExpr>(*at.first) : nullptr;
      return (name != nullptr && name->name == "None") || (literal != nullptr && literal->literal == ast::LiteralKind::kNone);
    };
    if (std::any_of(expr.subscripts.begin(), expr.subscripts.end(), is_none))
      builder.Help("an axis is added by an index that the value does not read: `[i < 1, j < len(x)] => x[j]`");
    for (const ast::Subscript& subscript : expr.subscripts) {
      if (subscript.first) SkipUnchecked(body, *subscript.first);
      if (subscript.last) SkipUnchecked(body, *subscript.last);
    }
    return Poison(body, expr.span);
  }
  const size_t written = expr.subscripts.size(), rest_indices = CountRestIndices(body);
  const bool takes_rest = rest_indices > 0 && extents.size() == written + rest_indices;
  ExprPtr result = Make(ExprKind::kIndex, types.Error(), expr.span);
  const uint32_t mark = body.NextSymbol();
  std::vector<Dim> dims;
  bool sound = true;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    Subscript& subscript = result->subscripts.emplace_back();
    if (axis >= written && takes_rest) {
      subscript.first = ReadLocal(body, *body.Find(RestIndexName(axis - written)), {expr.span.file, expr.span.begin, expr.span.begin});
    } else if (axis >= written) {  // the axes that are not named stay whole
      subscript.is_slice = true;
      dims.push_back(extents[axis]);
    } else if (expr.subscripts[axis].is_slice) {
      const auto size = CheckSlice(body, {*object, axis}, expr.subscripts[axis], subscript, where);
      sound = sound && size.has_value();
      dims.push_back(size.value_or(Dim(0)));
    } else {
      subscript.first = CheckPosition(body, *expr.subscripts[axis].first, where, written == 1 ? object.get() : nullptr);
      sound = sound && !IsPoison(*subscript.first) && IsInside(body, *object, *subscript.first, extents[axis], false);
    }
  }
  if (!sound) return Poison(body, expr.span);
  result->args.push_back(std::move(object));
  result->type = dims.empty() ? types.Scalar(dtype) : types.Tensor(dtype, std::move(dims));
  Settle(body, *result, mark);
  return result;
}

// Of a list that is written where it is read, or declared as a constant.
std::optional<int64_t> LengthOf(const Body& body, const Expr& list) {
  if (list.kind == ExprKind::kList) return static_cast<int64_t>(list.args.size());
  if (list.kind != ExprKind::kConst) return std::nullopt;
  return static_cast<int64_t>(body.env.program.consts[list.index].value.items->size());
}

ExprPtr IndexOne(Body& body, const ast::IndexExpr& expr, ExprPtr object, const Where& where) {
  const bool is_list = object->type->kind == TypeKind::kList;
  if (expr.subscripts.size() != 1 || expr.subscripts[0].is_slice) {
    auto builder = body.env.Report(expr.span, kIndexCount,
                                   {ToString(object->type), is_list ? "one index" : "one key",
                                    expr.subscripts.size() == 1 ? std::string("a slice") : std::to_string(expr.subscripts.size())});
    if (is_list && expr.subscripts.size() == 1) builder.Help("`lists.slice(xs, from, to)` of std.lists is a part of it");
    return Poison(body, expr.span);
  }
  const ast::Expr& at = *expr.subscripts[0].first;
  ExprPtr key = is_list ? CheckPosition(body, at, where, object.get()) : CheckAs(body, at, body.env.types.Simple(TypeKind::kString), where);
  if (IsPoison(*key)) return Poison(body, expr.span);
  const auto length = is_list ? LengthOf(body, *object) : std::nullopt;
  if (length && !IsInside(body, *object, *key, Dim(*length), false)) return Poison(body, expr.span);
  const TypeRef element = object->type->element;
  if (element->kind == TypeKind::kNever) {
    ReportOpen(body, *object);
    return Poison(body, expr.span);
  }
  ExprPtr result = Make(is_list ? ExprKind::kListIndex : ExprKind::kMapIndex, element, expr.span);
  if (!is_list && element->kind != TypeKind::kOptional) result->type = body.env.types.Optional(element);
  result->args.push_back(std::move(object));
  result->args.push_back(std::move(key));
  SettleRead(body, *result);
  return result;
}

// `s[1]`, `s[0:3]` of a text.
std::string HelpToSlice(const Body& body, const Expr& text, const ast::IndexExpr& expr) {
  const ast::Subscript& at = expr.subscripts.front();
  const std::string name = CodeAt(body, text.span, "s");
  std::string from = at.first ? CodeAt(body, at.first->span, "from") : "0";
  std::string to = at.last ? CodeAt(body, at.last->span, "to") : "text.characters(" + name + ")";
  if (!at.is_slice) to = from == "0" ? "1" : from + " + 1";
  const auto is_plain = [](const std::string& place) { return !place.starts_with('-') && place.find_first_of("\"?{&|<>=!") == place.npos; };
  if (expr.subscripts.size() > 1 || !is_plain(from) || !is_plain(to)) from = "from", to = "to";
  return "a part of a text is `text.slice(" + name + ", " + from + ", " + to + ")` of std.text, which counts characters from 0";
}

}  // namespace

ExprPtr CheckIndex(Body& body, const ast::IndexExpr& expr, const Where& where) {
  ExprPtr object = CheckExpr(body, *expr.object, nullptr, where);
  switch (object->type->kind) {
    case TypeKind::kTensor:
      return IndexTensor(body, expr, std::move(object), where);
    case TypeKind::kList:
    case TypeKind::kMap:
      return IndexOne(body, expr, std::move(object), where);
    case TypeKind::kError:
    case TypeKind::kNever:
    case TypeKind::kNone:
    case TypeKind::kScalar:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kRecord:
    case TypeKind::kOptional:
    case TypeKind::kVariable:
      break;
  }
  if (object->type->kind == TypeKind::kNone) {
    ReportOpen(body, *object);
  } else if (!IsPoison(*object)) {
    auto builder = body.env.Report(expr.span, kNotIndexable, {ToString(object->type)});
    if (object->type->kind == TypeKind::kString) builder.Help(HelpToSlice(body, *object, expr));
    if (object->type->kind == TypeKind::kRecord && !object->type->fields.empty())
      builder.Help("its parts are read by name, as in " + ReadOfMember(body, *object, object->type->fields[0].name));
    if (object->type->kind == TypeKind::kOptional) builder.Help(std::string(kHelpWithNone));
  }
  for (const ast::Subscript& subscript : expr.subscripts) {
    if (subscript.first) SkipUnchecked(body, *subscript.first);
    if (subscript.last) SkipUnchecked(body, *subscript.last);
  }
  const TypeRef meant = IsPoison(*object) ? object->type->element : nullptr;
  return Poison(body, expr.span, meant != nullptr && meant->kind == TypeKind::kList ? meant->element : nullptr);
}

}  // namespace wf::sema
