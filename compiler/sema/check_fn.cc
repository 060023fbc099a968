// Functions: their signatures, their bodies, and the instances of those with type variables.

#include <algorithm>

#include "compiler/sema/check_call.h"
#include "compiler/sema/check_decl.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/help.h"
#include "compiler/sema/names.h"
#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

// `= native("symbol")`: the symbol, or nothing when the body is another one.
const ast::CallExpr* NativeCall(const ast::FnDecl& decl) {
  const auto* call = decl.body.statements.empty() && decl.body.value ? ast::DynAs<ast::CallExpr>(*decl.body.value) : nullptr;
  const auto* callee = call != nullptr ? ast::DynAs<ast::NameExpr>(*call->callee) : nullptr;
  return callee != nullptr && callee->name == "native" ? call : nullptr;
}

bool ReadNative(Env& env, const Module& module, const ast::CallExpr& call, std::string& symbol) {
  if (!module.is_std) {
    env.Report(call.span, kStdOnly, {"`native`"});
    return false;
  }
  if (call.arguments.size() == 1 && PlainText(*call.arguments[0].value, symbol) != nullptr) return true;
  env.Report(call.span, kTypeArgument, {"native", "one plain string, the name of a symbol"});
  return false;
}

}  // namespace

ExprPtr FitResult(Body& body, ExprPtr value, const Signature& signature, const Span& declared) {
  if (signature.result_symbols.empty())
    return Coerce(body, std::move(value), signature.result, Origin{declared, "the result declared here"});
  Signature open;
  open.name = signature.name;
  open.span = declared;
  open.symbols = signature.result_symbols;
  DimSolver solver(body, open);
  for (const auto& [symbol, span] : body.symbols) {
    if (symbol.find('#') == std::string::npos) solver.Bind(symbol, Dim::Symbol(symbol), span);
  }
  std::vector<DimPair> pairs;
  if (value->type->kind == TypeKind::kError || value->type->kind == TypeKind::kNever) return value;
  const TypeRef wanted = BelowOptional(signature.result, *value);
  value = InForm(body, std::move(value), wanted);
  if (!MatchTypes(body.env.types, wanted, value->type, nullptr, pairs))
    return Coerce(body, std::move(value), signature.result, Origin{declared, "the result declared here"});
  for (const DimPair& pair : pairs) solver.Add(pair, wanted, *value);
  solver.Finish();
  GiveType(*value, wanted);
  if (solver.failed()) return Poison(body, value->span);
  for (DimCheck& check : solver.TakeChecks()) value->checks.push_back(std::move(check));
  return wanted == signature.result ? std::move(value) : MakeSome(body, std::move(value));
}

// Computed once, where it is declared. It knows no symbol: a call compares the extents that it has with the others'.
void CheckDefaults(const Body& body, const std::vector<ast::Param>& params, const Signature& signature) {
  for (size_t i = 0; i < params.size(); ++i) {
    const SigParam& param = signature.params[i];
    if (param.default_value == nullptr || param.type->kind == TypeKind::kError) continue;
    Body outside(body.env, body.module, body.self);
    outside.around = &body;
    Where where;
    where.may_fail = false;
    where.what = "a default";
    where.span = param.span;
    const Origin origin{params[i].type->span, "the type of the parameter", params[i].type.get()};
    const ExprPtr value = CheckAs(outside, *param.default_value, WithoutSymbols(body.env.types, param.type), where, origin);
    if (IsPoison(*value)) continue;
    if (auto known = ValueOf(body.env, *value, "a default"); known && CountConst(body.env, *known, value->span))
      body.env.defaults[param.default_value] = Const{param.name, value->type, std::move(*known), value->span};
  }
}

namespace {

// The body of a function whose types are all known. Fills `out`; false after a report.
bool CheckFnBody(Body& body, const ast::FnDecl& decl, const Signature& signature, Function& out) {
  out.n_params = static_cast<uint32_t>(signature.params.size());
  out.is_std = body.module.is_std;
  out.result = signature.result;
  out.span = decl.name.span;
  if (const ast::CallExpr* native = NativeCall(decl)) {
    for (LocalInfo& info : body.infos) info.used = true;
    out.locals = body.locals;
    out.may_fail = true;
    return ReadNative(body.env, body.module, *native, out.native);
  }
  const Origin origin{decl.result->span, "the result declared here", decl.result.get()};
  Where where;
  where.what = "a `fn`";
  where.span = decl.name.span;
  where.wanted_by = &origin;
  ExprPtr value = CheckBlock(body, decl.body,
                             MapDims(body.env.types, signature.result,
                                     [&](const Dim& dim) {
                                       for (const std::string& symbol : dim.Symbols()) {
                                         if (!body.symbols.contains(symbol)) return AnyDim();
                                       }
                                       return dim;
                                     }),
                             where);
  if (signature.result->kind == TypeKind::kError || IsPoison(*value)) return false;
  value = FitResult(body, std::move(value), signature, decl.result->span);
  if (IsPoison(*value) || ReportReach(body, *value)) return false;
  out.body = std::move(value);
  out.locals = body.locals;
  out.may_fail = body.may_fail;
  return true;
}

TypeRef VariableType(Env& env, const std::string& name) {
  Type variable;
  variable.kind = TypeKind::kVariable;
  variable.name = name;
  return env.types.Intern(std::move(variable));
}

std::string InstanceName(const std::string& function, const Body& body) {
  std::string name;
  for (const auto& [variable, type] : body.type_values) name += (name.empty() ? "" : ", ") + ToString(type);
  for (const auto& [rest, dims] : body.rests) name += (name.empty() ? "" : ", ") + std::string("rank ") + std::to_string(dims.size());
  return function + '<' + name + '>';
}

// A tensor's dimensions are symbols of the instance, so that two parameters of one type variable have one shape.
TypeRef TypeOfVariable(Body& body, const std::string& variable, TypeRef bound) {
  if (bound->kind != TypeKind::kTensor) {
    return WithoutSymbols(body.env.types, bound);
  }
  std::vector<Dim> dims = bound->dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].is_constant() || IsAny(dims[axis])) continue;
    dims[axis] = Dim::Symbol(VariableSymbol(variable, axis));
    body.symbols.emplace(VariableSymbol(variable, axis), body.self->name.span);
  }
  return body.env.types.Tensor(bound->dtype, std::move(dims));
}

// f32[n] needs nothing else; *s and T are only in std.
void CollectRests(const ast::Type& type, std::vector<std::string>& rests) {
  for (const ast::DimExpr& dim : type.dims) {
    if (dim.kind == ast::DimExpr::Kind::kRest && std::find(rests.begin(), rests.end(), dim.text) == rests.end()) rests.push_back(dim.text);
  }
  if (type.argument) CollectRests(*type.argument, rests);
  for (const ast::Type::Field& field : type.fields) CollectRests(*field.type, rests);
}

// The call cannot be of these types: why stands in the library, of which its writer knows nothing.
void ReportUnfit(Env& env, const Entity& entity, const TypeBindings& bindings, const Span& call, const std::vector<diag::Diagnostic>& why) {
  std::string types;
  bool any_optional = false;
  for (const std::string& variable : entity.signature->type_params) {
    const TypeRef type = bindings.types.find(variable)->second;
    types += (types.empty() ? "" : "`, `") + ToString(type);
    any_optional = any_optional || type->kind == TypeKind::kOptional;
  }
  auto builder = env.Report(call, kNoOperator, {entity.name, types});
  if (!why.empty()) builder.Label(why.front().span, why.front().message);
  const auto takes_list = [](const SigParam& param) { return param.type->kind == TypeKind::kList; };
  const std::vector<SigParam>& params = entity.signature->params;
  if (any_optional) builder.Help(std::string(std::any_of(params.begin(), params.end(), takes_list) ? kHelpWithNones : kHelpWithNone));
}

}  // namespace

void CheckFn(Env& env, Module& module, Entity& entity, const ast::FnDecl& decl) {
  Signature& signature = NewSignature(entity);
  Body body(env, module, &decl);
  if (!decl.type_params.empty() && !module.is_std) {
    env.Report(decl.type_params.front().span, kStdOnly, {"a type variable"})
        .Help("a function of your own is of one type, as in `fn first(xs: list<string>) -> string`; dimensions may be any: `f32[n]`");
    body.silenced = true;
  }
  for (const ast::Name& variable : decl.type_params) {
    body.type_values.emplace(variable.text, VariableType(env, variable.text));
    signature.type_params.push_back(variable.text);
  }
  if (module.is_std) {
    for (const ast::Param& param : decl.params) CollectRests(*param.type, signature.rests);
  }
  const Scope scope(body);
  ReadSignature(body, decl.params, decl.result.get(), signature);
  signature.may_fail = NativeCall(decl) != nullptr;
  CheckDefaults(body, decl.params, signature);
  if (signature.is_generic()) {  // the body is checked once per instance
    body.silenced = true;
    signature.broken = signature.broken || !module.is_std;
    return;
  }
  Function function;
  function.name = QualifiedName(env, entity);
  if (decl.has_errors) {  // constants may call it still, and then have no value
    body.silenced = true;
    function.n_params = static_cast<uint32_t>(signature.params.size());
    function.result = signature.result;
    function.span = decl.name.span;
  } else if (!CheckFnBody(body, decl, signature, function)) {
    function.may_fail = false;  // unknown: one mistake is enough
  }
  signature.may_fail = function.may_fail;
  entity.index = static_cast<uint32_t>(env.program.functions.size());
  env.program.functions.push_back(std::move(function));
}

std::optional<uint32_t> InstanceOf(Env& env, Entity& entity, const TypeBindings& bindings, const Span& call) {
  const auto& decl = static_cast<const ast::FnDecl&>(*entity.decl);
  Body body(env, *entity.home, &decl);
  body.silenced = true;
  for (const std::string& variable : entity.signature->type_params) {
    const auto bound = bindings.types.find(variable);
    if (bound == bindings.types.end() || bound->second->kind == TypeKind::kError) return std::nullopt;
    body.type_values[variable] = TypeOfVariable(body, variable, bound->second);
  }
  for (const std::string& rest : entity.signature->rests) {
    const auto bound = bindings.rests.find(rest);
    std::vector<Dim>& dims = body.rests[rest];
    for (size_t i = 0; bound != bindings.rests.end() && i < bound->second.size(); ++i) {
      dims.push_back(Dim::Symbol(rest + "_" + std::to_string(i)));
      body.symbols.emplace(rest + "_" + std::to_string(i), decl.name.span);
    }
  }
  const std::string name = InstanceName(QualifiedName(env, entity), body);
  if (const auto known = entity.instances.find(name); known != entity.instances.end()) return known->second;
  const Scope scope(body);
  Function function;
  function.name = name;
  std::vector<diag::Diagnostic> why;
  bool sound = false, is_told = false;
  {
    const diag::Emitter::Apart apart(env.diag);
    Signature signature;
    signature.name = entity.name;
    signature.span = entity.span;
    ReadSignature(body, decl.params, decl.result.get(), signature);
    sound = !signature.broken && CheckFnBody(body, decl, signature, function);
    is_told = env.diag.has_errors();
    why = env.diag.Sorted();
  }
  if (is_told) ReportUnfit(env, entity, bindings, call, why);
  if (!sound || is_told) return std::nullopt;
  const auto index = static_cast<uint32_t>(env.program.functions.size());
  env.program.functions.push_back(std::move(function));
  entity.instances.emplace(name, index);
  return index;
}

}  // namespace wf::sema
