// Comprehensions and folds: what they loop over, and what they yield.

#include "compiler/sema/check_expr.h"
#include "compiler/sema/names.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

// `name(..)` of zip or enumerate; null when `expr` is no such call.
const ast::CallExpr* LoopCall(Body& body, const ast::Expr& expr, std::string_view name) {
  const auto* call = ast::DynAs<ast::CallExpr>(expr);
  const auto* callee = call != nullptr ? ast::DynAs<ast::NameExpr>(*call->callee) : nullptr;
  return callee != nullptr && callee->name == name && FindEntity(body.module, name) == nullptr ? call : nullptr;
}

TypeRef ElementOf(Types& types, TypeRef source) {
  if (source->kind == TypeKind::kList) return source->element;
  if (source->kind != TypeKind::kTensor) return nullptr;
  if (source->dims.size() == 1) return types.Scalar(source->dtype);
  return types.Tensor(source->dtype, {source->dims.begin() + 1, source->dims.end()});
}

// One thing to loop over; adds its element type.
bool AddSource(Body& body, const ast::Expr& expr, Loop& loop, std::vector<TypeRef>& elements, const Where& where) {
  ExprPtr source = CheckExpr(body, expr, nullptr, where);
  if (IsPoison(*source)) {
    const TypeRef meant = source->type->element;
    elements.push_back(body.env.types.Error(meant != nullptr ? ElementOf(body.env.types, meant) : nullptr));
    return false;
  }
  const TypeRef element = ElementOf(body.env.types, source->type);
  if (element == nullptr || element->is_open) {
    if (element != nullptr) ReportOpen(body, *source);
    if (element == nullptr) {
      auto report = body.env.Report(source->span, kNotIterable, {ToString(source->type)});
      if (source->type->kind == TypeKind::kScalar && IsInteger(source->type->dtype))
        report.Help("`[i < " + CodeAt(body, source->span, "n") +
                    "] => i` is a tensor of the numbers below it, and `[i < n] => e` makes another");
      if (source->type->kind == TypeKind::kMap)
        report.Help("`keys(m)` is the list of its keys, and `m[k]` what stands behind one, or `none`");
    }
    return false;
  }
  loop.sources.push_back(std::move(source));
  elements.push_back(element);
  return true;
}

// How many elements a source has, where its type or the list itself says so.
std::optional<Dim> LengthOf(const Expr& source) {
  if (source.type->kind == TypeKind::kTensor) return source.type->dims[0];
  if (source.kind == ExprKind::kList) return Dim(static_cast<int64_t>(source.args.size()));
  return std::nullopt;
}

bool HaveOneLength(Body& body, const std::vector<ExprPtr>& sources) {
  const auto first = LengthOf(*sources[0]);
  for (const ExprPtr& source : sources) {
    const auto length = LengthOf(*source);
    if (!first || !length || !Dim::ProvedDifferent(*first, *length)) continue;
    auto builder = body.env.Report(source->span, kZipLengths, {first->ToString(), length->ToString()});
    builder.Here(length->ToString()).Label(sources[0]->span, first->ToString());
    LabelOrigins(body, {*first, *length}, builder);
    LabelSource(body, *source, builder);
    LabelSource(body, *sources[0], builder);
    return false;
  }
  return true;
}

bool AddSources(Body& body, const ast::Expr& expr, Loop& loop, std::vector<TypeRef>& elements, const Where& where) {
  if (const ast::CallExpr* enumerate = LoopCall(body, expr, "enumerate"); enumerate != nullptr && !loop.enumerate) {
    if (enumerate->arguments.size() != 1) {
      body.env.Report(expr.span, kTooManyArguments, {"enumerate", "1 argument", enumerate->arguments.size()});
      return false;
    }
    loop.enumerate = true;
    elements.push_back(body.env.types.Scalar(DType::kI64));
    return AddSources(body, *enumerate->arguments[0].value, loop, elements, where);
  }
  const ast::CallExpr* zip = LoopCall(body, expr, "zip");
  if (zip == nullptr) return AddSource(body, expr, loop, elements, where);
  if (zip->arguments.size() < 2) {
    body.env.Report(expr.span, kTooManyArguments, {"zip", "at least 2 arguments", zip->arguments.size()});
    return false;
  }
  bool sound = true;
  for (const ast::Argument& argument : zip->arguments) sound = AddSource(body, *argument.value, loop, elements, where) && sound;
  return sound && HaveOneLength(body, loop.sources);
}

// "x in xs" of a loop.
Span TextOf(const std::vector<ast::Name>& names, const ast::Expr& source) {
  return {source.span.file, names.front().span.begin, source.span.end};
}

LocalId NextLocal(const Body& body) { return static_cast<LocalId>(body.locals.size()); }

// How a list is made where nothing waits.
std::string ComprehensionFor(const Body& body, const ast::ForExpr& expr) {
  const bool is_plain = expr.block.statements.empty() && expr.block.value && !expr.block.fallback;
  const std::string element = is_plain ? CodeAt(body, expr.block.value->span, "e") : "e";
  return "[" + element + " for " + CodeAt(body, TextOf(expr.names, *expr.source), "x in xs") + "]";
}

std::optional<Loop> FindSource(Body& body, const ast::Expr& source, std::vector<TypeRef>& elements, const Where& where) {
  Loop loop;
  if (AddSources(body, source, loop, elements, where)) return loop;
  SkipUnchecked(body, source);
  return std::nullopt;
}

// Declares the names in the scope that is open.
std::optional<Loop> BindNames(Body& body, const ast::Expr& source, const std::vector<ast::Name>& names,
                              const std::vector<TypeRef>& elements, std::optional<Loop> loop) {
  if (!loop) {
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_meant = names.size() == elements.size() && elements[i]->kind == TypeKind::kError;
      body.Declare(LocalKind::kLoop, names[i], is_meant ? elements[i] : body.env.types.Error());
    }
    return std::nullopt;
  }
  if (names.size() != elements.size()) {
    auto builder = body.env.Report(names.front().span, kLoopNames,
                                   {std::to_string(elements.size()) + (elements.size() == 1 ? " value" : " values"),
                                    std::to_string(names.size()) + (names.size() == 1 ? " name" : " names")});
    builder.Label(source.span, "the source");
    if (elements.size() == 1 && names.size() == 2)
      builder.Help("`enumerate(" + CodeAt(body, source.span, "xs") + ")` yields the position too, `zip(xs, ys)` the elements of two");
    for (const ast::Name& name : names) body.Declare(LocalKind::kLoop, name, body.env.types.Error());
    return std::nullopt;
  }
  for (size_t i = 0; i < names.size(); ++i) loop->locals.push_back(body.Declare(LocalKind::kLoop, names[i], elements[i]));
  return loop;
}

std::optional<Loop> CheckSource(Body& body, const ast::Expr& source, const std::vector<ast::Name>& names, std::vector<TypeRef>& elements,
                                const Where& where) {
  std::optional<Loop> loop = FindSource(body, source, elements, where);
  return BindNames(body, source, names, elements, std::move(loop));
}

TypeRef ElementWanted(TypeRef list) { return list != nullptr && list->kind == TypeKind::kList ? list->element : nullptr; }

}  // namespace

ExprPtr CheckComprehension(Body& body, const ast::ComprehensionExpr& expr, TypeRef wanted, const Where& where) {
  StillLoop still{TextOf(expr.names, *expr.source), *expr.source, NextLocal(body), NextLocal(body)};
  Where inside = where.Inside("a comprehension", expr.span);
  inside.still_loop = &still;
  const uint32_t mark = body.NextSymbol();
  const Scope scope(body);
  std::vector<TypeRef> elements;
  auto loop = CheckSource(body, *expr.source, expr.names, elements, where);
  still.end = NextLocal(body);
  ExprPtr condition;
  if (expr.condition) condition = CheckAs(body, *expr.condition, body.env.types.Scalar(DType::kBool), inside);
  const TypeRef element = ElementWanted(wanted);
  ExprPtr value = element != nullptr ? CheckPart(body, *expr.value, element, inside) : CheckExpr(body, *expr.value, nullptr, inside);
  if (!loop || IsPoison(*value) || (condition && IsPoison(*condition))) return Poison(body, expr.span);
  ExprPtr list = Make(ExprKind::kListLoop, body.env.types.List(value->type), expr.span);
  list->loop = std::move(loop);
  list->condition = std::move(condition);
  list->args.push_back(std::move(value));
  Settle(body, *list, mark);
  return list;
}

namespace {

// A `fold` that adds to its accumulator, as other languages make a list.
constexpr std::string_view kToGrow =
    "an accumulator keeps its extents from step to step; what grows is made at once: `let ys = [f(x) for x in xs];` is a list, and "
    "`[i < len(ys)] => ys[i]` a tensor";

// What is wanted of what an accumulator begins as: of a number none that may be none, for each step has one.
TypeRef WantedOfInitial(Body& body, const ast::Expr& initial, TypeRef wanted) {
  const ast::Expr* const bare = &Bare(initial);
  const TypeRef value = wanted->kind == TypeKind::kOptional ? wanted->element : wanted;
  if (IsLiteral(*bare)) return value;
  const auto* tuple = ast::DynAs<ast::TupleExpr>(*bare);
  if (tuple == nullptr || !IsTuple(value)) return wanted;
  std::vector<Field> fields = value->fields;
  for (Field& field : fields) {
    for (const ast::TupleExpr::Field& given : tuple->fields) {
      if (given.label.text == field.name) field.type = WantedOfInitial(body, *given.value, field.type);
    }
  }
  return body.env.types.Record("", std::move(fields));
}

// What stands beside has extents of its own.
TypeRef OfAnyExtents(Types& types, TypeRef type) {
  return MapDims(types, type, [](const Dim& /*dim*/) { return AnyDim(); });
}

// The type of an open value with what another has for the parts that are open.
TypeRef FilledFrom(Types& types, TypeRef open, TypeRef other) {
  if (!open->is_open) return open;
  if (open->kind == TypeKind::kNone || open->kind == TypeKind::kNever) return other;
  if (open->kind == TypeKind::kOptional) return types.Optional(FilledFrom(types, open->element, other->element ? other->element : other));
  if (open->kind != other->kind) return open;
  if (open->kind == TypeKind::kList) return types.List(FilledFrom(types, open->element, other->element));
  if (open->kind != TypeKind::kRecord) return open;
  std::vector<Field> fields = open->fields;
  for (Field& field : fields) {
    for (const Field& of_other : other->fields) {
      if (of_other.name == field.name) field.type = FilledFrom(types, field.type, of_other.type);
    }
  }
  return types.Record("", std::move(fields));
}

}  // namespace

// What the accumulator begins as knows no element yet: the names of the loop are bound behind it.
ExprPtr CheckFold(Body& body, const ast::FoldExpr& expr, TypeRef wanted, const Where& where) {
  const uint32_t mark = body.NextSymbol();
  const Scope scope(body);
  std::vector<TypeRef> elements;
  std::optional<Loop> loop = FindSource(body, *expr.source, elements, where);
  TypeRef hint = wanted != nullptr ? WantedOfInitial(body, *expr.initial, wanted) : nullptr;
  if (hint != nullptr && where.soft) hint = OfAnyExtents(body.env.types, hint);
  if (hint == nullptr && !elements.empty() && elements.back()->kind == TypeKind::kScalar) hint = elements.back();
  ExprPtr initial = CheckExpr(body, *expr.initial, hint, where);
  const bool is_none = initial->type->kind == TypeKind::kNone;
  const bool takes_type = wanted != nullptr && initial->type->is_open && (!is_none || wanted->kind == TypeKind::kOptional);
  if (takes_type) {
    const TypeRef form = where.soft ? FilledFrom(body.env.types, initial->type, OfAnyExtents(body.env.types, wanted)) : wanted;
    initial = Coerce(body, std::move(initial), form);
  }
  if (is_none && initial->type->kind == TypeKind::kNone) {
    body.env.Report(initial->span, kCannotInfer, {"`" + expr.accumulator.text + "`"})
        .Help("what the `fold` is given to says it: `let y: i64? = fold " + expr.accumulator.text + " = none ..;`");
    initial = Poison(body, initial->span);
  }
  const TypeRef type = initial->type;
  const LocalId accumulator = body.Declare(LocalKind::kAccumulator, expr.accumulator, type);
  StillLoop still{TextOf(expr.names, *expr.source), *expr.source, NextLocal(body), NextLocal(body)};
  loop = BindNames(body, *expr.source, expr.names, elements, std::move(loop));
  still.end = NextLocal(body);
  Where inside = where.Inside("a `fold`", expr.span).Hard(nullptr);
  inside.still_loop = &still;
  ExprPtr value = CheckBlock(body, expr.block, type, inside);
  if (!loop || IsPoison(*initial)) return Poison(body, expr.span);
  value = Coerce(body, std::move(value), type, Origin{initial->span, "the accumulator begins as this", nullptr, kToGrow});
  if (IsPoison(*value)) return value;
  if (type->is_open) {
    ReportOpen(body, *initial);
    return Poison(body, expr.span);
  }
  ExprPtr fold = Make(ExprKind::kFold, type, expr.span);
  fold->local = accumulator;
  fold->loop = std::move(loop);
  fold->args.push_back(std::move(initial));
  fold->args.push_back(std::move(value));
  Settle(body, *fold, mark);
  return fold;
}

ExprPtr CheckFor(Body& body, const ast::ForExpr& expr, TypeRef wanted, const Where& where) {
  if (!where.may_wait) {
    Span word = expr.span;
    word.end = word.begin + 3;
    auto builder = body.env.Report(word, kWaitingCallOutsideNode, {"for", "may wait", where.what});
    NameSet names;
    CollectNames(expr, names);
    if (where.holder != Where::Holder::kNone) builder.Help(HelpToWait(body, expr.span, names, where));
    builder.Help("without calls that wait, `" + ComprehensionFor(body, expr) + "` makes a list");
    return SkipUnchecked(body, expr);
  }
  ++body.n_loops;
  body.may_fail = true;
  const uint32_t mark = body.NextSymbol();
  const Scope scope(body);
  std::vector<TypeRef> elements;
  auto loop = CheckSource(body, *expr.source, expr.names, elements, where);
  ExprPtr each = Make(ExprKind::kEach, body.env.types.Error(), expr.span);
  Where inside = where;
  inside.is_loop = true;
  const TypeRef element = ElementWanted(wanted);
  ++body.loops_around;
  ExprPtr value = CheckBlock(body, expr.block, element, inside);
  if (element != nullptr) value = FitPart(body, std::move(value), element, inside);
  if (value->type->kind == TypeKind::kNever) {
    ReportNever(body, *value);
    value = Poison(body, value->span);
  }
  if (!IsPoison(*value)) Settle(body, *value, mark);
  const TypeRef written = inside.soft ? nullptr : element;
  Fallback other;
  if (expr.block.fallback) other = CheckFallback(body, {*expr.block.fallback, expr.span, written, inside.wanted_by}, value, mark);
  --body.loops_around;
  if (!loop || IsPoison(*value) || (expr.block.fallback && other.value == nullptr)) return Poison(body, expr.span);
  each->local = other.err;
  each->type = body.env.types.List(value->type);
  each->loop = std::move(loop);
  each->args.push_back(std::move(value));
  if (other.value != nullptr) each->args.push_back(std::move(other.value));
  Settle(body, *each, mark);
  return each;
}

}  // namespace wf::sema
