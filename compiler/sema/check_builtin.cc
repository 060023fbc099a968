// Functions of the prelude that the checker knows: what each takes and yields. builtins.def lists them.

#include <algorithm>
#include <array>

#include "compiler/ir/scalar.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_call.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/help.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/waiting.h"
#include "runtime/abi/defaults.h"

namespace wf::sema {
namespace {

constexpr std::array<std::string_view, 2> kTypes = {"string", "bytes"};  // to which no call converts

std::optional<Builtin> Find(std::string_view name) {
  const auto* row = std::ranges::find(kBuiltins, name, &BuiltinInfo::name);
  if (row == std::end(kBuiltins)) return std::nullopt;
  return static_cast<Builtin>(row - std::begin(kBuiltins));
}

struct CallSite {
  Body& body;
  std::string_view name;
  const Call& call;
  TypeRef wanted;
  const Where& where;

  Types& types() const { return body.env.types; }
  ExprPtr Fail() const { return Poison(body, call.span()); }
  // The arguments in the order of `names`; nothing after a report.
  std::optional<std::vector<const ast::Expr*>> Arguments(const std::vector<ParamName>& names) const {
    const auto bound = BindArguments(body, call, std::string(name), {}, names);
    if (!bound) {
      for (const GivenArgument& argument : GivenArguments(call)) SkipUnchecked(body, *argument.value);
      return std::nullopt;
    }
    std::vector<const ast::Expr*> values;
    for (const GivenArgument& argument : *bound) values.push_back(argument.value);
    return values;
  }
  ExprPtr Make1(Builtin builtin, TypeRef type, ExprPtr argument) const {
    ExprPtr expr = Make(ExprKind::kBuiltin, type, call.span());
    expr->index = static_cast<uint32_t>(builtin);
    expr->args.push_back(std::move(argument));
    return expr;
  }
  ExprPtr NoArgument(const Expr& argument) const {
    auto builder = body.env.Report(argument.span, kNoOperator, {name, ToString(argument.type)});
    if (argument.type->kind == TypeKind::kOptional) builder.Help(std::string(kHelpWithNone));
    return Fail();
  }
};

// The scalar type that a literal argument takes: what is wanted of the result, else a float where only floats will do.
TypeRef LiteralHint(const CallSite& site, Builtin builtin) {
  TypeRef hint = site.wanted;
  if (hint != nullptr && hint->kind == TypeKind::kTensor) hint = site.types().Scalar(hint->dtype);
  const bool scalar = hint != nullptr && hint->kind == TypeKind::kScalar && IsNumeric(hint->dtype);
  if (InfoOf(builtin).float_only && (!scalar || !ir::IsFloat(hint->dtype))) return site.types().Scalar(DType::kF32);
  return scalar ? hint : nullptr;
}

bool CheckNumber(const CallSite& site, Builtin builtin, const Expr& argument) {
  if (!CheckArithmetic(site.body, site.name, argument.type, argument.span)) return false;
  if (!InfoOf(builtin).float_only || ir::IsFloat(argument.type->dtype)) return true;
  site.body.env.Report(argument.span, kNoOperator, {site.name, ToString(argument.type)}).Help("convert it first: `f32(..)`");
  return false;
}

ExprPtr CheckElementwise1(const CallSite& site, Builtin builtin) {
  const auto arguments = site.Arguments({{"x"}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], LiteralHint(site, builtin), site.where);
  if (IsPoison(*value) || !CheckNumber(site, builtin, *value)) return site.Fail();
  const TypeRef type = value->type;
  return FoldKnown(site.body, site.Make1(builtin, type, std::move(value)));
}

ExprPtr CheckElementwise2(const CallSite& site, Builtin builtin) {
  if ((builtin == Builtin::kMin || builtin == Builtin::kMax) && GivenArguments(site.call).size() == 1) {
    const ExprPtr value = CheckExpr(site.body, *GivenArguments(site.call)[0].value, nullptr, site.where);
    if (IsPoison(*value)) return site.Fail();
    auto builder = site.body.env.Report(site.call.span(), kArgumentMissing, {site.name, "b"});
    if (const std::string reduced = ReducedBy(site.body, site.name, *value); !reduced.empty())
      builder.Help("of all elements: `" + reduced + "`");
    return site.Fail();
  }
  const auto arguments = site.Arguments({{"a"}, {"b"}});
  if (!arguments) return site.Fail();
  const ast::Expr* sides[2] = {(*arguments)[0], (*arguments)[1]};
  ExprPtr values[2];
  TypeRef hint = LiteralHint(site, builtin);
  const int first = IsLiteral(*sides[0]) ? 1 : 0;  // a literal takes the type of the other side
  for (const int side : {first, 1 - first}) {
    values[side] = CheckExpr(site.body, *sides[side], hint, site.where);
    const TypeRef type = values[side]->type;
    if (type->kind == TypeKind::kScalar || type->kind == TypeKind::kTensor) hint = site.types().Scalar(type->dtype);
  }
  if (IsPoison(*values[0]) || IsPoison(*values[1])) return site.Fail();
  if (!CheckNumber(site, builtin, *values[0]) || !CheckNumber(site, builtin, *values[1])) return site.Fail();
  if (values[0]->type->dtype != values[1]->type->dtype) {
    site.body.env.Report(site.call.span(), kOperandsDiffer, {site.name, ToString(values[0]->type), ToString(values[1]->type)})
        .Help("convert one of them, as in `" + std::string(ir::NameOf(values[0]->type->dtype)) + "(..)`");
    return site.Fail();
  }
  auto dims = Broadcast(site.body, site.name, *values[0], *values[1], site.call.span());
  if (!dims) return site.Fail();
  const DType dtype = values[0]->type->dtype;
  ExprPtr result =
      site.Make1(builtin, dims->empty() ? site.types().Scalar(dtype) : site.types().Tensor(dtype, *dims), std::move(values[0]));
  result->args.push_back(std::move(values[1]));
  return FoldKnown(site.body, std::move(result));
}

ExprPtr CheckLen(const CallSite& site) {
  const auto arguments = site.Arguments({{"x"}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (IsPoison(*value)) return site.Fail();
  const TypeRef i64 = site.types().Scalar(DType::kI64);
  switch (value->type->kind) {
    case TypeKind::kTensor:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      return site.Make1(Builtin::kLen, i64, std::move(value));
    case TypeKind::kError:
    case TypeKind::kNever:
    case TypeKind::kNone:
    case TypeKind::kScalar:
    case TypeKind::kRecord:
    case TypeKind::kOptional:
    case TypeKind::kVariable:
      break;
  }
  return site.NoArgument(*value);
}

ExprPtr CheckStr(const CallSite& site) {
  const auto arguments = site.Arguments({{"x"}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (value->type->kind != TypeKind::kBytes) return ToText(site.body, std::move(value));
  if (!CallMayFail(site.body, site.call.span(), "`str` of bytes may fail", site.where)) return site.Fail();
  return site.Make1(Builtin::kStr, site.types().Simple(TypeKind::kString), std::move(value));
}

ExprPtr CheckListOf(const CallSite& site) {
  const auto arguments = site.Arguments({{"x"}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (IsPoison(*value)) return site.Fail();
  if (value->type->kind != TypeKind::kTensor) return site.NoArgument(*value);
  const std::vector<Dim> inner(value->type->dims.begin() + 1, value->type->dims.end());
  const DType dtype = value->type->dtype;
  const TypeRef element = inner.empty() ? site.types().Scalar(dtype) : site.types().Tensor(dtype, inner);
  return site.Make1(Builtin::kListOf, site.types().List(element), std::move(value));
}

bool IsTensorPart(TypeRef type) { return type->kind == TypeKind::kScalar || type->kind == TypeKind::kTensor; }

ExprPtr CheckStack(const CallSite& site) {
  const auto arguments = site.Arguments({{.name = "xs", .takes_list = true}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (IsPoison(*value)) return site.Fail();
  const TypeRef element = value->type->kind == TypeKind::kList ? value->type->element : nullptr;
  if (element == nullptr || !IsTensorPart(element)) return site.NoArgument(*value);
  if (value->kind == ExprKind::kList && !HaveOneShape(site.body, value->args)) return site.Fail();
  std::vector<Dim> dims{value->kind == ExprKind::kList ? Dim(static_cast<int64_t>(value->args.size())) : AnyDim()};
  dims.insert(dims.end(), element->dims.begin(), element->dims.end());
  if (HasTooManyAxes(site.body, dims.size(), site.call.span())) return site.Fail();
  const uint32_t mark = site.body.NextSymbol();
  ExprPtr stacked = site.Make1(Builtin::kStack, site.types().Tensor(element->dtype, std::move(dims)), std::move(value));
  Settle(site.body, *stacked, mark);
  return stacked;
}

// How many elements a shape has: no extent, so it may be too large to compute with, and is then counted when it runs.
Dim CountOf(const std::vector<Dim>& dims) {
  if (std::find(dims.begin(), dims.end(), Dim(0)) != dims.end()) return 0;
  Dim count = 1;
  for (const Dim& dim : dims) count = count * dim;
  return count;
}

bool IsKnown(const Dim& count) { return count.fault() == Dim::Fault::kNone; }

ExprPtr CheckReshape(const CallSite& site) {
  const std::vector<GivenArgument> given = GivenArguments(site.call);
  if (given.size() < 2) {
    site.body.env.Report(site.call.span(), kArgumentMissing, {"reshape", given.empty() ? "x" : "an extent"});
    return site.Fail();
  }
  for (const GivenArgument& argument : given) {
    if (argument.label == nullptr) continue;
    site.body.env.Report(argument.label->span, kUnknownParameter, {"reshape", argument.label->text})
        .Help("the tensor and each extent are given without a name, as in `reshape(x, 2, 3)`");
    SkipUnchecked(site.body, site.call.expr);
    return site.Fail();
  }
  ExprPtr value = CheckExpr(site.body, *given[0].value, nullptr, site.where);
  if (IsPoison(*value)) return site.Fail();
  if (value->type->kind == TypeKind::kList && IsTensorPart(value->type->element)) {
    site.body.env.Report(value->span, kNoOperator, {site.name, ToString(value->type)}).Help("`tensor.stack(..)` makes a tensor of a list");
    return site.Fail();
  }
  if (value->type->kind != TypeKind::kTensor) return site.NoArgument(*value);
  const Dim before = CountOf(value->type->dims);
  const DType dtype = value->type->dtype;
  ExprPtr result = site.Make1(Builtin::kReshape, site.types().Error(), std::move(value));
  std::vector<Dim> dims;
  for (size_t i = 1; i < given.size(); ++i) {
    const ast::Expr& written = *given[i].value;
    if (written.kind == ast::ExprKind::kListExpr) {
      site.body.env
          .Report(written.span, kWrongKind, {std::string(site.body.env.input.sources.Text(written.span)), "no extent", "an integer"})
          .Help("each extent is an argument of its own, as in `reshape(x, 2, 3)`");
      SkipUnchecked(site.body, written);
      return site.Fail();
    }
    ExprPtr extent = CheckAs(site.body, written, site.types().Scalar(DType::kI64), site.where);
    if (IsPoison(*extent)) return site.Fail();
    dims.push_back(DimOf(site.body, *extent));
    if (auto report = ReportNoExtent(site.body.env, dims.back(), extent->span, dims.back().ToString())) {
      if (*dims.back().constant() < 0) report->Help("each extent is written; none is worked out from the others");
      return site.Fail();
    }
    result->args.push_back(std::move(extent));
  }
  if (HasTooManyAxes(site.body, dims.size(), site.call.span())) return site.Fail();
  const Dim after = CountOf(dims);
  if (Dim::ProvedDifferent(before, after)) {
    auto builder =
        site.body.env.Report(site.call.span(), kReshapeCount, {ToString(result->args[0]->type), before.ToString(), after.ToString()});
    LabelOrigins(site.body, {before, after}, builder);
    LabelSource(site.body, *result->args[0], builder);
    return site.Fail();
  }
  const auto is_constant = [](const Dim& dim) { return dim.is_constant(); };
  if (IsKnown(before) && !IsKnown(after) && std::all_of(dims.begin(), dims.end(), is_constant)) {
    std::string product;
    for (const Dim& dim : dims) product += (product.empty() ? "" : "*") + dim.ToString();
    site.body.env.Report(site.call.span(), kReshapeCount, {ToString(result->args[0]->type), before.ToString(), product});
    return site.Fail();
  }
  if (before != after && IsKnown(before) && IsKnown(after)) {
    result->checks.push_back(CheckOf(site.body, before, after, "the tensor has {0} elements, the new shape {1}"));
    result->checks.back().is_count = true;
  }
  result->type = site.types().Tensor(dtype, std::move(dims));
  return result;
}

// What no request could hold is told here; `name`: of the function.
bool FitsJson(const CallSite& site, const std::string& name, TypeRef type, const Span& span) {
  if (type->levels <= abi::kValueLevels) return true;
  site.body.env.Report(span, kTooManyLevels, {name, type->levels, abi::kValueLevels});
  return false;
}

ExprPtr CheckJsonParse(const CallSite& site) {
  const auto arguments = site.Arguments({{"text"}});
  if (!arguments) return site.Fail();
  ExprPtr text = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (IsPoison(*text)) return site.Fail();
  if (text->type->kind != TypeKind::kString && text->type->kind != TypeKind::kBytes) return site.NoArgument(*text);
  const TypeRef wanted = site.wanted;
  if (wanted != nullptr && wanted->kind == TypeKind::kError) return site.Fail();  // reported where the type is written
  if (wanted == nullptr || wanted->is_open || wanted->is_unknown || (wanted->kind == TypeKind::kTensor && wanted->dtype == DType::kNone)) {
    site.body.env.Report(site.call.span(), kCannotInfer, {"`json.parse(..)`"})
        .Help("a name can say it: `let x: map<f32> = json.parse(..);`");
    return site.Fail();
  }
  if (!FitsJson(site, "json.parse", wanted, site.call.span()) ||
      !CallMayFail(site.body, site.call.span(), "`json.parse` may fail", site.where))
    return site.Fail();
  const uint32_t mark = site.body.NextSymbol();
  ExprPtr value = site.Make1(Builtin::kJsonParse, WithoutSymbols(site.types(), wanted), std::move(text));
  Settle(site.body, *value, mark);
  return value;
}

ExprPtr CheckJsonBuild(const CallSite& site) {
  const auto arguments = site.Arguments({{"x"}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (IsPoison(*value)) return site.Fail();
  if (value->type->is_open) {
    ReportOpen(site.body, *value);
    return site.Fail();
  }
  if (!FitsJson(site, "json.build", value->type, value->span) ||
      !CallMayFail(site.body, site.call.span(), "`json.build` may fail", site.where))
    return site.Fail();
  return site.Make1(Builtin::kJsonBuild, site.types().Simple(TypeKind::kString), std::move(value));
}

ExprPtr CheckSideOfMap(const CallSite& site, Builtin side, const char* parameter) {
  const auto arguments = site.Arguments({{parameter}});
  if (!arguments) return site.Fail();
  ExprPtr value = CheckExpr(site.body, *(*arguments)[0], nullptr, site.where);
  if (IsPoison(*value)) return site.Fail();
  if (value->type->kind != TypeKind::kMap) return site.NoArgument(*value);
  const TypeRef item = side == Builtin::kKeys ? site.types().Simple(TypeKind::kString) : value->type->element;
  return site.Make1(side, site.types().List(item), std::move(value));
}

// A millionth; integers have to be equal.
ExprPtr DefaultTolerance(TypeRef type, const Span& span) {
  ExprPtr tolerance = Make(ExprKind::kScalar, type, span);
  constexpr double kDefault = 1e-6;
  if (ir::IsFloat(type->dtype)) tolerance->bits = ir::ConvertScalar(DType::kF64, type->dtype, ir::F64Bits(kDefault));
  return tolerance;
}

ExprPtr CheckClose(const CallSite& site) {
  if (!site.where.test) {
    site.body.env.Report(site.call.expr.callee->span, kTestOnly, {"close"});
    return site.Fail();
  }
  const auto arguments = site.Arguments({{"a"}, {"b"}, {"tol", false}});
  if (!arguments) return site.Fail();
  const int first = IsLiteral(*(*arguments)[0]) ? 1 : 0;
  ExprPtr values[2];
  values[first] = CheckExpr(site.body, *(*arguments)[first], nullptr, site.where);
  values[1 - first] = CheckExpr(site.body, *(*arguments)[1 - first], values[first]->type, site.where);
  if (IsPoison(*values[0]) || IsPoison(*values[1])) return site.Fail();
  if (!CheckArithmetic(site.body, "close", values[0]->type, values[0]->span)) return site.Fail();
  values[1] = Coerce(site.body, std::move(values[1]), values[0]->type, Origin{values[0]->span, "compared with this"});
  if (IsPoison(*values[1])) return site.Fail();
  ExprPtr result = site.Make1(Builtin::kClose, site.types().Scalar(DType::kBool), std::move(values[0]));
  result->args.push_back(std::move(values[1]));
  const TypeRef tolerance = site.types().Scalar(result->args[0]->type->dtype);
  if ((*arguments)[2] == nullptr) {
    result->args.push_back(DefaultTolerance(tolerance, result->span));
    return result;
  }
  ExprPtr given = CheckAs(site.body, *(*arguments)[2], tolerance, site.where);
  if (IsPoison(*given)) return site.Fail();
  result->args.push_back(std::move(given));
  return result;
}

ExprPtr CheckMeta(const CallSite& site) {
  if (!site.where.workflow) {
    site.body.env.Report(site.call.expr.callee->span, kWorkflowOnly, {"meta"});
    return site.Fail();
  }
  const auto arguments = site.Arguments({{"key"}, {"default"}});
  if (!arguments) return site.Fail();
  std::string key;
  if (PlainText(*(*arguments)[0], key) == nullptr) {
    site.body.env.Report((*arguments)[0]->span, kConstantKey, {"meta"});
    return site.Fail();
  }
  if (!IsWireName(key)) {
    site.body.env.Report((*arguments)[0]->span, kHeaderKey, {key});
    return site.Fail();
  }
  site.body.env.metadata.insert(key);
  ExprPtr otherwise = CheckExpr(site.body, *(*arguments)[1], site.wanted, site.where);
  if (IsPoison(*otherwise)) return site.Fail();
  if (otherwise->type->kind != TypeKind::kScalar && otherwise->type->kind != TypeKind::kString) {
    site.body.env.Report(otherwise->span, kNoText, {ToString(otherwise->type)});
    return site.Fail();
  }
  if (!MayFail(site.body, site.call.span(), "`meta` may fail", site.where)) return site.Fail();
  ExprPtr meta = Make(ExprKind::kMeta, otherwise->type, site.call.span());
  meta->args.push_back(MakeText(site.body, std::move(key), (*arguments)[0]->span));
  meta->args.push_back(std::move(otherwise));
  return meta;
}

// `sum(x)`
ExprPtr CheckWithoutIndex(const CallSite& site) {
  const std::vector<GivenArgument> given = GivenArguments(site.call);
  std::string reduced;
  for (const GivenArgument& argument : given) {
    const ExprPtr value = CheckExpr(site.body, *argument.value, nullptr, site.where);
    if (IsPoison(*value)) return site.Fail();
    if (given.size() == 1) reduced = ReducedBy(site.body, site.name, *value);
  }
  const std::string name(site.name);
  site.body.env.Report(site.call.expr.callee->span, kNotCallable, {"`" + name + "` without an index"})
      .Help(reduced.empty() ? "write `" + name + "[i](x[i])`; `i` runs over the axis that it indexes"
                            : "write `" + reduced + "`, which goes through all elements");
  return site.Fail();
}

ExprPtr CheckOtherWord(const CallSite& site) {
  Body& body = site.body;
  const std::string name(site.name);
  if (name == "meta") return CheckMeta(site);
  if (IsReducer(name)) return CheckWithoutIndex(site);
  for (const GivenArgument& argument : GivenArguments(site.call)) SkipUnchecked(body, *argument.value);
  if (name == "zip" || name == "enumerate") {
    body.env.Report(site.call.span(), kZipHere, {name}).Help("as in `[a + b for a, b in zip(xs, ys)]`");
  } else if (name == "annotate") {
    body.env.Report(site.call.span(), kWrongKind, {"annotate", "a statement", "a value"});
  } else if (name == "string" || name == "bytes") {
    body.env.Report(site.call.expr.callee->span, kNotCallable, {"the type `" + name + "`"})
        .Help(name == "string"
                  ? "`str(x)` gives the text of a value"
                  : "text does not become `bytes`: they come with the request, or from a file, `const B: bytes = file(\"b.bin\");`");
  }
  return site.Fail();
}

}  // namespace

bool IsBuiltinName(std::string_view name) {
  const auto builtin = Find(name);
  return (builtin && InfoOf(*builtin).module.empty()) || IsReducer(name) ||
         std::ranges::find(kWords, name, &WordInfo::name) != std::end(kWords) || std::ranges::find(kTypes, name) != kTypes.end();
}

void AddBuiltinNames(std::vector<std::string>& names) {
  for (const BuiltinInfo& row : kBuiltins) {
    if (row.module.empty()) names.emplace_back(row.name);
  }
  for (const ReducerInfo& row : kReducers) {
    if (!Find(row.name)) names.emplace_back(row.name);
  }
  for (const WordInfo& row : kWords) names.emplace_back(row.name);
  names.insert(names.end(), kTypes.begin(), kTypes.end());
}

ExprPtr CheckBuiltin(Body& body, std::string_view name, const Call& call, TypeRef wanted, const Where& where) {
  const CallSite site{body, name, call, wanted, where};
  const auto builtin = Find(name);
  if (!builtin) return CheckOtherWord(site);
  switch (*builtin) {
    case Builtin::kLen:
      return CheckLen(site);
    case Builtin::kStr:
      return CheckStr(site);
    case Builtin::kListOf:
      return CheckListOf(site);
    case Builtin::kStack:
      return CheckStack(site);
    case Builtin::kReshape:
      return CheckReshape(site);
    case Builtin::kTokenizer:
      return CheckEmbed(body, name, call.expr, wanted, where);
    case Builtin::kJsonParse:
      return CheckJsonParse(site);
    case Builtin::kJsonBuild:
      return CheckJsonBuild(site);
    case Builtin::kKeys:
      return CheckSideOfMap(site, Builtin::kKeys, "x");
    case Builtin::kMapValues:
      return CheckSideOfMap(site, Builtin::kMapValues, "m");
    case Builtin::kClose:
      return CheckClose(site);
    case Builtin::kAbs:
    case Builtin::kMin:
    case Builtin::kMax:
    case Builtin::kFloor:
    case Builtin::kCeil:
    case Builtin::kRound:
    case Builtin::kTrunc:
    case Builtin::kSqrt:
    case Builtin::kExp:
    case Builtin::kLog:
    case Builtin::kTanh:
    case Builtin::kErf:
    case Builtin::kSin:
    case Builtin::kCos:
    case Builtin::kPow:
      return InfoOf(*builtin).elementwise == 1 ? CheckElementwise1(site, *builtin) : CheckElementwise2(site, *builtin);
  }
  return nullptr;
}

ExprPtr CheckConversion(Body& body, DType dtype, const Call& call, const Where& where) {
  const auto bound = BindArguments(body, call, std::string(ir::NameOf(dtype)), {}, {{"x"}});
  if (!bound) {
    for (const GivenArgument& argument : GivenArguments(call)) SkipUnchecked(body, *argument.value);
    return Poison(body, call.span());
  }
  const ast::Expr& argument = *(*bound)[0].value;
  const TypeRef target = body.env.types.Scalar(dtype);
  ExprPtr value = CheckExpr(body, argument, IsLiteral(argument) ? target : nullptr, where);
  if (IsPoison(*value)) return value;
  const TypeRef found = value->type;
  const bool numbers = found->kind == TypeKind::kScalar || found->kind == TypeKind::kTensor;
  if (!numbers || (dtype == DType::kBool && found->dtype != DType::kBool)) {
    auto builder = body.env.Report(call.span(), kCannotConvert, {ToString(found), ToString(target)});
    if (numbers) builder.Help("compare it: `x != 0`");
    if (found->kind == TypeKind::kOptional) builder.Help(std::string(kHelpWithNone));
    if (found->kind == TypeKind::kString) builder.Help(HelpToReadText(ToString(target), CodeAt(body, value->span, "text")));
    if (found->kind == TypeKind::kList && found->element->kind == TypeKind::kScalar && dtype != DType::kBool)
      builder.Help("`[" + ToString(target) + "(x) for x in " + CodeAt(body, value->span, "xs") + "]` converts each of its elements");
    return Poison(body, call.span());
  }
  if (found->dtype == dtype) {
    value->span = call.span();
    return value;
  }
  ExprPtr converted =
      Make(ExprKind::kConvert, found->kind == TypeKind::kScalar ? target : body.env.types.Tensor(dtype, found->dims), call.span());
  converted->args.push_back(std::move(value));
  return converted;
}

}  // namespace wf::sema
