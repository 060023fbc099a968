// Building tensors `[i, j] => e`, and reducers `sum[k](e)`.

#include <algorithm>
#include <optional>
#include <span>

#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/index_place.h"
#include "compiler/sema/mentions.h"
#include "compiler/sema/names.h"
#include "compiler/sema/no_extent.h"
#include "compiler/sema/rest.h"
#include "compiler/sema/waiting.h"
#include "runtime/abi/values.h"

namespace wf::sema {
namespace {

Where ElementWhere(const Where& where, std::string_view what, const Span& span) {
  Where inner = where.Inside(what, span);
  inner.may_fail = false;
  inner.elements = true;
  inner.workflow = false;
  return inner;
}

// The extent of an index as written, as i64.
ExprPtr CheckExtent(Body& body, const ast::Expr& extent, const Where& where) {
  const TypeRef i64 = body.env.types.Scalar(DType::kI64);
  ExprPtr value = CheckExpr(body, extent, i64, where.elements ? where : where.Inside("the extent of an index", extent.span));
  if (IsPoison(*value)) return value;
  if (value->type->kind != TypeKind::kScalar || !IsInteger(value->type->dtype)) return Coerce(body, std::move(value), i64);
  if (value->type == i64) return value;
  ExprPtr wide = Make(ExprKind::kConvert, i64, value->span);
  wide->args.push_back(std::move(value));
  return wide;
}

ExprPtr ExtentOfDim(Body& body, const Dim& dim, const Span& span) {
  if (const auto constant = dim.constant()) return MakeInt(body, *constant, DType::kI64, span);
  ExprPtr value = Make(ExprKind::kDimValue, body.env.types.Scalar(DType::kI64), span);
  value->dim = dim;
  return value;
}

LocalId DeclareIndex(Body& body, const ast::Name& name) {
  return body.Declare(LocalKind::kIndex, name, body.env.types.Scalar(DType::kI64));
}

struct Extents {
  std::vector<ExprPtr> values;
  std::vector<Dim> dims;
};

// The axes of `*s` that the wanted type ends with and the lambda gives no name to.
size_t RestAxes(const Body& body, const ast::LambdaExpr& expr, TypeRef wanted) {
  size_t axes = 0;
  for (const auto& [rest, dims] : body.rests) axes += dims.size();
  const bool is_wanted = wanted != nullptr && wanted->kind == TypeKind::kTensor && wanted->dims.size() == expr.indices.size() + axes;
  return is_wanted && CountRestIndices(body) == 0 ? axes : 0;
}

// `[i < n, j < i]`: the extents of a tensor are known before its elements are. True after a report.
bool ReadsIndexBefore(Body& body, const ast::LambdaExpr& expr, size_t at) {
  const ast::LambdaExpr::Index& index = expr.indices[at];
  NameSet names;
  CollectNames(*index.extent, names);
  for (size_t i = 0; i < at; ++i) {
    const ast::LambdaExpr::Index& before = expr.indices[i];
    if (!names.contains(before.name.text) || body.Find(before.name.text)) continue;
    const std::string most = before.extent ? CodeAt(body, before.extent->span, "n") : "n";
    const std::string &name = before.name.text, &other = index.name.text;
    body.env.Report(index.extent->span, kUnknownName, {name})
        .Help("all rows of a tensor have one length, so no extent reads an index: `[" + name + " < " + most + ", " + other + " < " + most +
              "] => if " + other + " < " + CodeAt(body, index.extent->span, name) + " { .. } else { .. }`");
    return true;
  }
  return false;
}

// A tensor where something else is needed, whatever the extents are. True after a report.
bool ReportTensorFor(Body& body, const ast::LambdaExpr& expr, TypeRef wanted) {
  const bool is_list = wanted->kind == TypeKind::kList;
  const bool is_other = is_list || wanted->kind == TypeKind::kString || wanted->kind == TypeKind::kBytes ||
                        wanted->kind == TypeKind::kMap || wanted->kind == TypeKind::kRecord;
  if (!is_other) return false;
  const std::string text = CodeAt(body, expr.span, "[..] => ..");
  auto builder = body.env.Report(expr.span, kWrongKind, {text, "a tensor", "a `" + ToString(wanted) + "`"});
  if (is_list) builder.Help("`list([i < n] => e)` makes a list of one");
  return true;
}

// Of a lambda: written ones, else those of the wanted type; nothing after a report.
std::optional<Extents> ExtentsOf(Body& body, const ast::LambdaExpr& expr, TypeRef wanted, const Where& where) {
  Extents extents;
  const bool has_wanted =
      wanted != nullptr && wanted->kind == TypeKind::kTensor && wanted->dims.size() == expr.indices.size() + RestAxes(body, expr, wanted);
  bool sound = true;
  for (size_t i = 0; i < expr.indices.size(); ++i) {
    const ast::LambdaExpr::Index& index = expr.indices[i];
    if (index.extent && ReadsIndexBefore(body, expr, i)) return std::nullopt;
    if (index.extent) {
      extents.values.push_back(CheckExtent(body, *index.extent, where));
      sound = sound && !IsPoison(*extents.values.back());
      extents.dims.push_back(IsPoison(*extents.values.back()) ? Dim(0) : DimOf(body, *extents.values.back()));
    } else if (has_wanted && !IsAny(wanted->dims[i])) {
      extents.dims.push_back(wanted->dims[i]);
      extents.values.push_back(ExtentOfDim(body, wanted->dims[i], index.name.span));
    } else if (wanted != nullptr && wanted->kind == TypeKind::kError) {  // reported where the type is written
      return std::nullopt;
    } else {
      if (wanted != nullptr && ReportTensorFor(body, expr, wanted)) return std::nullopt;
      if (wanted != nullptr && wanted->kind == TypeKind::kTensor && !has_wanted) {
        const size_t axes = wanted->dims.size();
        body.env.Report(expr.span, kIndexCount,
                        {ToString(wanted), std::to_string(axes) + (axes == 1 ? " axis" : " axes"), expr.indices.size()});
      } else {
        ReportNoExtents(body, expr, wanted);
      }
      return std::nullopt;
    }
    const Dim& dim = extents.dims.back();
    if (ReportNoExtent(body.env, dim, index.name.span, dim.ToString())) sound = false;
  }
  return sound ? std::optional(std::move(extents)) : std::nullopt;
}

// The name at the root of `x.y[0]`; null when it is none, or means something.
const ast::NameExpr* UnknownRoot(Body& body, const ast::Expr& place) {
  const ast::Expr* root = &place;
  while (true) {
    if (const auto* paren = ast::DynAs<ast::ParenExpr>(*root)) {
      root = paren->inner.get();
    } else if (const auto* index = ast::DynAs<ast::IndexExpr>(*root)) {
      root = index->object.get();
    } else if (const auto* member = ast::DynAs<ast::MemberExpr>(*root)) {
      root = member->object.get();
    } else {
      break;
    }
  }
  const auto* name = ast::DynAs<ast::NameExpr>(*root);
  const bool is_known = name == nullptr || body.Find(name->name) || body.symbols.contains(name->name) || IsBuiltinName(name->name) ||
                        FindEntity(body.module, name->name) != nullptr;
  return is_known ? nullptr : name;
}

// The index of a reducer: how far it goes, and what is computed before for its sake.
struct Range {
  ExprPtr extent;                 // null after a report
  std::optional<BlockStep> held;  // let t = f(x), of sum[k](f(x)[k])
  const ast::Expr* holds = nullptr;
};

// The extent of an axis of what is not named, but computed: once, before the reducer.
Range HoldValue(Body& body, const Use& use, const ast::Name& index, const Where& where) {
  Range range;
  ExprPtr object = CheckExpr(body, *use.expr->object, nullptr, where);
  if (object->type->kind != TypeKind::kTensor || use.axis >= object->type->dims.size()) {
    const bool is_list = object->type->kind == TypeKind::kList;
    const std::string extent = is_list ? "len(" + CodeAt(body, object->span, "..") + ")" : "";
    if (!IsPoison(*object)) body.env.Report(index.span, kNoExtent, {index.text, ToBound(index.text, extent)});
    return range;
  }
  range.extent = ExtentOfDim(body, object->type->dims[use.axis], index.span);
  range.holds = use.expr->object.get();
  BlockStep& step = range.held.emplace();
  step.local = body.Declare(LocalKind::kLet, {"_", object->span}, object->type);
  step.span = object->span;
  step.value = std::move(object);
  body.held[range.holds] = step.local;
  return range;
}

// The extent of an axis whose type says `_`: { let t = x; its extent }.
ExprPtr ReadExtent(Body& body, const Use& use, const ast::Name& index, const Where& where) {
  if (!IsKnownHere(body, *use.expr->object)) return nullptr;
  ExprPtr object = CheckExpr(body, *use.expr->object, nullptr, where);
  if (object->type->kind != TypeKind::kTensor || use.axis >= object->type->dims.size()) return nullptr;
  ExprPtr block = Make(ExprKind::kBlock, body.env.types.Scalar(DType::kI64), index.span);
  block->args.push_back(ExtentOfDim(body, object->type->dims[use.axis], index.span));
  BlockStep step;
  step.local = body.Declare(LocalKind::kLet, {"_", index.span}, object->type);
  step.value = std::move(object);
  step.span = index.span;
  block->steps.push_back(std::move(step));
  return block;
}

TypeRef TypeOfIndexed(Body& body, const ast::Expr& object) {
  const auto held = body.held.find(&object);
  return held != body.held.end() ? body.locals[held->second].type : TypeOfPlace(body, object);
}

// The extent of a reducer's index without `< n`: that of the axis it indexes bare.
Range InferExtent(Body& body, const ast::Name& index, const ast::Expr& inside, const Where& where) {
  ExprPtr extent;
  Span first;
  Dim dim;
  bool poisoned = false;
  std::optional<Use> open, computed;
  const ast::Expr* list = nullptr;
  for (const Use& use : UsesOf(index.text, inside)) {
    const TypeRef type = TypeOfIndexed(body, *use.expr->object);
    if (const ast::NameExpr* unknown = type == nullptr ? UnknownRoot(body, *use.expr->object) : nullptr) {
      poisoned = IsPoison(*CheckName(body, *unknown, where)) || poisoned;
    } else if (type == nullptr && !computed && IsKnownHere(body, *use.expr->object)) {
      computed = use;
    }
    poisoned = poisoned || (type != nullptr && type->kind == TypeKind::kError);
    if (type != nullptr && type->kind == TypeKind::kList) list = use.expr->object.get();
    if (type != nullptr && type->kind == TypeKind::kRecord) poisoned = IsPoison(*CheckIndex(body, *use.expr, where)) || poisoned;
    if (type == nullptr || type->kind != TypeKind::kTensor || use.axis >= type->dims.size()) continue;
    const Dim& found = type->dims[use.axis];
    if (IsAny(found)) {
      if (!open) open = use;
    } else if (!extent) {
      dim = found;
      first = use.expr->span;
      extent = ExtentOfDim(body, found, index.span);
    } else if (dim != found) {
      auto builder = body.env.Report(use.expr->span, kExtentConflict, {index.text, found.ToString(), dim.ToString()});
      LabelOrigins(body, {dim, found}, builder);
      builder.Here("over " + found.ToString()).Label(first, "over " + dim.ToString());
      builder.Help("say how far it goes: `" + index.text + " < " + dim.ToString() + "`");
      return {};
    }
  }
  if (!extent && open) extent = ReadExtent(body, *open, index, where);
  if (!extent && !poisoned && computed) return HoldValue(body, *computed, index, where);
  if (!extent && !poisoned) {
    const std::string text(list != nullptr ? body.env.input.sources.Text(list->span) : "");
    const std::string written = list != nullptr ? "len(" + text + ")" : "";
    auto builder = body.env.Report(index.span, kNoExtent, {index.text, ToBound(index.text, written)});
    builder.Help(list != nullptr ? "`" + text + "` is a list, whose length no type says"
                                 : "the index takes the extent of an axis that it indexes alone, as in `x[i]`");
  }
  if (!extent && poisoned) body.silenced = true;
  return {std::move(extent), std::nullopt};
}

struct ReducerIndex {
  ast::Name name;
  const ast::Expr* extent = nullptr;
};

// `k` or `k < n` between the brackets of a reducer.
std::optional<ReducerIndex> ReadIndex(Body& body, const ast::Subscript& subscript) {
  if (!subscript.is_slice && subscript.first) {
    if (const auto* name = ast::DynAs<ast::NameExpr>(*subscript.first)) return ReducerIndex{{name->name, name->span}};
    const auto* less = ast::DynAs<ast::BinaryExpr>(*subscript.first);
    const auto* name = less != nullptr && less->op == ast::BinaryOp::kLt ? ast::DynAs<ast::NameExpr>(*less->left) : nullptr;
    if (name != nullptr) return ReducerIndex{{name->name, name->span}, less->right.get()};
  }
  body.env.Report(subscript.span, kWrongKind, {std::string(body.env.input.sources.Text(subscript.span)), "no name", "the name of an index"})
      .Help("as in `sum[i](x[i])`");
  return std::nullopt;
}

// sum[i, j](inside)
struct Reducer {
  Body& body;
  ir::ReduceKind kind;
  std::string_view name;
  std::span<const ast::Subscript> indices;
  const ast::Expr& inside;
  Span span;
};

ExprPtr CheckInside(const Reducer& reducer, TypeRef wanted, const Where& where) {
  Body& body = reducer.body;
  const bool logical = reducer.kind == ir::ReduceKind::kAny || reducer.kind == ir::ReduceKind::kAll;
  if (logical) return CheckAs(body, reducer.inside, body.env.types.Scalar(DType::kBool), where);
  ExprPtr value = CheckExpr(body, reducer.inside, wanted, where);
  if (IsPoison(*value)) return value;
  if (value->type->kind == TypeKind::kTensor) {
    body.env.Report(value->span, kNoOperator, {reducer.name, ToString(value->type)}).Help("index it down to one number");
    return Poison(body, value->span);
  }
  return CheckArithmetic(body, reducer.name, value->type, value->span) ? std::move(value) : Poison(body, value->span);
}

// One index after the other: sum[i, j](e) is sum[i](sum[j](e)). Only what the first goes over is computed outside of the elements.
ExprPtr CheckFrom(const Reducer& reducer, size_t at, TypeRef wanted, const Where& where) {
  Body& body = reducer.body;
  if (at == reducer.indices.size()) return CheckInside(reducer, wanted, where);
  const auto index = ReadIndex(body, reducer.indices[at]);
  const Where inside = at == 0 ? ElementWhere(where, "a reducer", reducer.span) : where;
  Range range;
  if (index && index->extent != nullptr) range.extent = CheckExtent(body, *index->extent, where);
  if (index && index->extent == nullptr) range = InferExtent(body, index->name, reducer.inside, inside);
  if (!range.extent || IsPoison(*range.extent)) return SkipUnchecked(body, reducer.inside);
  const Scope scope(body);
  const LocalId local = DeclareIndex(body, index->name);
  ExprPtr value = CheckFrom(reducer, at + 1, wanted, inside);
  if (range.held) body.held.erase(range.holds);
  if (IsPoison(*value)) return value;
  ExprPtr reduced = Make(ExprKind::kReduce, value->type, reducer.span);
  reduced->reduce = reducer.kind;
  reduced->index_locals.push_back(local);
  if (const auto dim = AsDim(body, *range.extent)) reduced->dim = *dim;
  reduced->extents.push_back(std::move(range.extent));
  reduced->args.push_back(std::move(value));
  if (!range.held) return reduced;
  ExprPtr block = Make(ExprKind::kBlock, reduced->type, reducer.span);
  block->steps.push_back(std::move(*range.held));
  block->args.push_back(std::move(reduced));
  return block;
}

std::optional<ir::ReduceKind> ReducerNamed(std::string_view name) {
  for (const ReducerInfo& row : kReducers) {
    if (row.name == name) return row.kind;
  }
  return std::nullopt;
}

}  // namespace

ExprPtr CheckLambda(Body& body, const ast::LambdaExpr& expr, TypeRef wanted, const Where& where) {
  if (HasTooManyAxes(body, expr.indices.size(), expr.span)) {
    return SkipUnchecked(body, expr);
  }
  ExprPtr build = Make(ExprKind::kBuild, body.env.types.Error(), expr.span);
  std::optional<Extents> extents = ExtentsOf(body, expr, wanted, where);
  const size_t rest_axes = RestAxes(body, expr, wanted);
  const Scope scope(body);
  for (const ast::LambdaExpr::Index& index : expr.indices) build->index_locals.push_back(DeclareIndex(body, index.name));
  if (!extents) return SkipUnchecked(body, expr);
  for (size_t axis = 0; axis < rest_axes; ++axis) {
    const Dim& dim = wanted->dims[expr.indices.size() + axis];
    build->index_locals.push_back(DeclareIndex(body, {RestIndexName(axis), {expr.span.file, expr.span.begin, expr.span.begin}}));
    extents->values.push_back(ExtentOfDim(body, dim, expr.span));
    extents->dims.push_back(dim);
  }
  const bool typed = wanted != nullptr && wanted->kind == TypeKind::kTensor && wanted->dtype != DType::kNone;
  const TypeRef element = typed ? body.env.types.Scalar(wanted->dtype) : nullptr;
  ExprPtr value = CheckExpr(body, *expr.body, element, ElementWhere(where, "the body of `=>`", expr.span));
  if (element != nullptr) value = Coerce(body, std::move(value), element, where.origin());
  if (IsPoison(*value)) return Poison(body, expr.span);
  if (value->type->kind != TypeKind::kScalar) {
    body.env.Report(value->span, kWrongKind, {ToString(value->type), "no element of a tensor", "a number or a bool"});
    return Poison(body, expr.span);
  }
  build->type = body.env.types.Tensor(value->type->dtype, std::move(extents->dims));
  build->extents = std::move(extents->values);
  build->args.push_back(std::move(value));
  return build;
}

bool IsReducer(std::string_view name) { return ReducerNamed(name).has_value(); }

bool IsReducer(const ast::CallExpr& call) {
  const auto* index = ast::DynAs<ast::IndexExpr>(*call.callee);
  const auto* name = index != nullptr ? ast::DynAs<ast::NameExpr>(*index->object) : nullptr;
  return name != nullptr && IsReducer(name->name);
}

ExprPtr CheckReducer(Body& body, const ast::CallExpr& call, TypeRef wanted, const Where& where) {
  const auto& head = ast::As<ast::IndexExpr>(*call.callee);
  const auto& name = ast::As<ast::NameExpr>(*head.object);
  if (call.arguments.size() == 1 && call.arguments[0].label) {
    body.env.Report(call.arguments[0].label->span, kUnknownParameter, {name.name, call.arguments[0].label->text})
        .Help("as in `" + name.name + "[i](x[i])`");
    return SkipUnchecked(body, call);
  }
  if (call.arguments.size() != 1) {
    body.env.Report(call.span, kTooManyArguments, {name.name, "one expression", call.arguments.size()});
    return SkipUnchecked(body, call);
  }
  const Reducer reducer{body, *ReducerNamed(name.name), name.name, head.subscripts, *call.arguments[0].value, call.span};
  return CheckFrom(reducer, 0, wanted, where);
}

}  // namespace wf::sema
