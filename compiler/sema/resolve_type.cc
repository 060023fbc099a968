#include "compiler/sema/resolve_type.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <unordered_map>

#include "compiler/diag/foreign.h"
#include "compiler/ir/scalar.h"
#include "compiler/sema/forward.h"
#include "compiler/sema/mentions.h"
#include "compiler/sema/names.h"
#include "runtime/abi/dtype.h"
#include "runtime/abi/values.h"
#include "runtime/onnx/signature.h"

namespace wf::sema {
namespace {

std::optional<int64_t> ExtentOf(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  const bool hex = text.starts_with("0x");
  int64_t value = 0;
  const char* begin = text.data() + (hex ? 2 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || value > abi::kMostExtent) return std::nullopt;
  return value;
}

// What the module declares under the name, as a dimension: an integer constant. Nothing after a report.
std::optional<Dim> EntityDim(Body& body, const ast::DimExpr& dim, const Entity& declared) {
  const bool is_function = declared.kind != EntityKind::kConst && declared.kind != EntityKind::kModule;  // wherever it stands
  const Entity* entity = is_function ? &declared : Lookup(body.env, body.module, {dim.text, dim.span}, body.self);
  if (entity == nullptr) return std::nullopt;
  const bool integer = entity->kind == EntityKind::kConst && entity->type->kind == TypeKind::kScalar && !ir::IsFloat(entity->type->dtype) &&
                       entity->type->dtype != DType::kBool;
  const uint64_t bits = integer ? body.env.program.consts[entity->index].value.bits : 0;
  if (integer && !ir::IsSigned(entity->type->dtype) && bits > INT64_MAX) {
    body.env.Report(dim.span, kBadDimension, {std::to_string(bits), "it is too large"}).Label(entity->span, "declared here");
    return std::nullopt;
  }
  if (integer) return Dim(ir::SignedOf(entity->type->dtype, bits));
  const std::string what =
      entity->kind == EntityKind::kConst ? "a `const` of type `" + ToString(entity->type) + "`" : std::string(NameOf(entity->kind));
  body.env.Report(dim.span, kWrongKind, {dim.text, what, "a dimension"}).Label(entity->span, "declared here");
  return std::nullopt;
}

// `batch` marks the batch axis in the signature of a model (docs/semantics.md 13); elsewhere it would be taken for one.
bool IsReservedHere(Body& body, const ast::DimExpr& dim) {
  const bool in_model = body.self != nullptr && body.self->kind == ast::DeclKind::kModelDecl;
  if (!IsReservedDimension(dim.text) || in_model) return false;
  body.env.Report(dim.span, kBatchDimension)
      .Help("calls of models, and stubs, have no batch axis: leave it out; a dimension of your own is called something else");
  return true;
}

std::optional<Dim> SymbolDim(Body& body, const ast::DimExpr& dim, SymbolRule rule) {
  if (dim.text == kAnySymbol) return AnyDim();
  if (IsReservedHere(body, dim)) return std::nullopt;
  if (const auto symbol = body.symbols.find(dim.text); symbol != body.symbols.end()) {
    body.env.NoteUse(dim.span, symbol->second);
    if (const auto local = body.Find(dim.text)) body.infos[*local].used = true;
    return Dim::Symbol(dim.text);
  }
  if (const auto local = body.Find(dim.text); local && body.infos[*local].value) {
    body.infos[*local].used = true;
    body.env.NoteUse(dim.span, body.locals[*local].span);
    return body.infos[*local].value;
  }
  if (const Entity* entity = FindEntity(body.module, dim.text); entity != nullptr) return EntityDim(body, dim, *entity);
  if (rule != SymbolRule::kDeclare && ReportForwardLocal(body, dim.text, dim.span)) return std::nullopt;
  if (rule == SymbolRule::kDeclare && std::isupper(static_cast<unsigned char>(dim.text[0])) == 0) {
    ReportIfBuiltIn(body.env, body.module, {dim.text, dim.span}, true);
    body.symbols.emplace(dim.text, dim.span);
    body.env.NoteUse(dim.span, dim.span);
    return Dim::Symbol(dim.text);
  }
  auto builder = body.env.Report(dim.span, kUnknownDimension, {dim.text});
  if (rule == SymbolRule::kDeclare) {
    builder.Help("a symbol, which each call gives a value, begins in lower case; in upper case it is a `const`; `_` is any")
        .DidYouMean(dim.span, dim.text, [&] { return ValueNames(body); });
  } else if (rule == SymbolRule::kNone) {
    builder.Help("a dimension here is an integer or `_`");
  } else {
    builder.DidYouMean(dim.span, dim.text, [&] { return ValueNames(body); });
  }
  return std::nullopt;
}

bool MayHaveRest(Body& body, const ast::DimExpr& dim) {
  if (!body.module.is_std) body.env.Report(dim.span, kStdOnly, {"`*" + dim.text + "`"});
  return body.module.is_std;
}

std::optional<Dim> ResolveDim(Body& body, const ast::DimExpr& dim, SymbolRule rule) {
  using Kind = ast::DimExpr::Kind;
  switch (dim.kind) {
    case Kind::kAny:
      return AnyDim();
    case Kind::kInt: {
      const auto value = ExtentOf(dim.text);
      if (!value) body.env.Report(dim.span, kBadDimension, {dim.text, "it is too large"});
      return value ? std::optional<Dim>(*value) : std::nullopt;
    }
    case Kind::kSymbol:
      return SymbolDim(body, dim, rule);
    case Kind::kRest:  // which stands for a whole dimension only: TensorOf
      if (MayHaveRest(body, dim))
        body.env.Report(dim.span, kBadDimension, {"*" + dim.text, "it is several, with no value to compute with"});
      return std::nullopt;
    case Kind::kError:
      return std::nullopt;
    case Kind::kAdd:
    case Kind::kSub:
    case Kind::kMul:
    case Kind::kDiv:
      break;
  }
  const auto left = ResolveDim(body, dim.operands[0], rule);
  const auto right = ResolveDim(body, dim.operands[1], rule);
  if (!left || !right) return std::nullopt;
  if (IsAny(*left) || IsAny(*right)) {
    body.env.Report(dim.span, kBadDimension, {"_", "it has no value to compute with"});
    return std::nullopt;
  }
  if (dim.kind == Kind::kAdd) return *left + *right;
  if (dim.kind == Kind::kSub) return *left - *right;
  if (dim.kind == Kind::kMul) return *left * *right;
  if (right->constant() == 0) {
    body.env.Report(dim.span, kBadDimension, {"/ 0", "the divisor is 0"});
    return std::nullopt;
  }
  return Dim::FloorDiv(*left, *right);
}

// `*s`: unknown in a pattern, several dimensions in an instance.
bool AddRest(Body& body, const ast::DimExpr& dim, std::vector<Dim>& dims) {
  if (!MayHaveRest(body, dim)) return false;
  if (const auto bound = body.rests.find(dim.text); bound != body.rests.end()) {
    dims.insert(dims.end(), bound->second.begin(), bound->second.end());
  } else {
    dims.push_back(Dim::Symbol("*" + dim.text));
  }
  return true;
}

TypeRef TensorOf(Body& body, const ast::Type& type, TypeRef element, SymbolRule rule) {
  Types& types = body.env.types;
  std::vector<Dim> dims;
  bool sound = true;
  for (const ast::DimExpr& dim : type.dims) {
    if (dim.kind == ast::DimExpr::Kind::kRest) {
      sound = AddRest(body, dim, dims) && sound;
      continue;
    }
    const auto value = ResolveDim(body, dim, rule);
    const bool is_extent = value && !ReportNoExtent(body.env, *value, dim.span, body.env.input.sources.Text(dim.span));
    sound = sound && is_extent;
    if (is_extent) dims.push_back(*value);
  }
  if (!sound || element->kind == TypeKind::kError) return types.Error();
  if (dims.size() > WF_MAX_RANK) {
    body.env.Report(type.span, kTooManyAxes, {std::string(body.env.input.sources.Text(type.span)), dims.size(), int{WF_MAX_RANK}});
    return types.Error();
  }
  if (dims.empty()) return element;  // `*s` of rank 0
  if (element->kind == TypeKind::kScalar) return types.Tensor(element->dtype, std::move(dims));
  if (element->kind == TypeKind::kVariable) {
    Type tensor;
    tensor.kind = TypeKind::kTensor;
    tensor.dims = std::move(dims);
    tensor.element = element;
    return types.Intern(std::move(tensor));
  }
  body.env.Report(type.span, kWrongKind, {ToString(element), "no element of a tensor", "a number or a bool"});
  return types.Error();
}

TypeRef ResolveContainer(Body& body, const ast::Type& type, SymbolRule rule) {
  const std::string& name = type.name.parts[0].text;
  if (!type.argument) {
    auto builder = body.env.Report(type.name.span, kTypeArgument, {name, "the type of its elements, as in `" + name + "<string>`"});
    const bool in_brackets = type.dims.size() == 1 && type.dims[0].kind == ast::DimExpr::Kind::kSymbol;
    if (!in_brackets) return body.env.types.Error();
    const auto ours = diag::OursFor(diag::Foreign::kType, type.dims[0].text);
    builder.Help("it stands in angle brackets: `" + name + "<" + (ours.empty() ? type.dims[0].text : std::string(ours)) + ">`");
    return body.env.types.Error();
  }
  const TypeRef element = ResolveType(body, *type.argument, rule);
  if (element->kind == TypeKind::kError) return element;
  if (name == "map" && element->kind == TypeKind::kOptional) {  // a look-up may find nothing as it is
    body.env.Report(type.span, kNestedOptional, {"a value looked up in `map<" + ToString(element) + ">`"});
    return body.env.types.Error();
  }
  return name == "list" ? body.env.types.List(element) : body.env.types.Map(element);
}

// `Optional[int]` and the like as they are written here; empty: it is none. What it holds is known when it is a type of ours, or has one.
std::string OursForGeneric(const ast::Type& type) {
  const std::string ours(diag::OursFor(diag::Foreign::kGeneric, type.name.parts[0].text));
  if (ours.empty() || type.name.parts.size() > 1) return "";
  const bool in_angles = type.argument != nullptr && type.argument->name.parts.size() == 1 && !type.argument->argument;
  const bool in_brackets = !type.dims.empty() && type.dims.back().kind == ast::DimExpr::Kind::kSymbol;
  std::string inner = in_angles ? type.argument->name.parts[0].text : in_brackets ? type.dims.back().text : "..";
  if (const auto known = diag::OursFor(diag::Foreign::kType, inner); !known.empty()) inner = known;
  return std::string(ours).replace(ours.find(".."), 2, inner);
}
constexpr std::array<std::string_view, 4> kForeignTensors = {"tensor", "Tensor", "array", "ndarray"};
constexpr std::array<std::string_view, 8> kForAnything = {"any", "Any", "object", "Object", "auto", "var", "unknown", "dynamic"};

std::vector<std::string> TypeNames(const Module& module) {
  std::vector<std::string> names = {"string", "bytes", "list", "map"};
  for (int dtype = 1; dtype <= static_cast<int>(DType::kF64); ++dtype) names.emplace_back(ir::NameOf(static_cast<DType>(dtype)));
  for (const auto& [name, entity] : module.entities) {
    if (entity.kind == EntityKind::kType) names.push_back(name);
  }
  return names;
}

// `flt32`, `int_64`: the scalar that begins with its first letter and ends with its digits; empty: there is none.
std::string ScalarLike(const std::string& name) {
  const std::string digits = name.substr(name.find_last_not_of("0123456789") + 1);
  const auto scalar = DTypeNamed(name[0] + digits);
  return name.size() > digits.size() + 1 && scalar ? name[0] + digits : "";
}

UnknownTypes& UnknownTypesOf(Env& env, const Module& module) {
  const auto [at, is_new] = env.unknown_types.try_emplace(&module);
  for (size_t i = 0; is_new && i < module.file->decls.size(); ++i) {
    ForEachType(*module.file->decls[i], [&unknown = at->second](const ast::Type& type) {
      if (type.name.parts.size() == 1) unknown.written[type.name.parts[0].text].push_back(type.name.span);
    });
  }
  return at->second;
}

// `written`: all places where it stands.
void ReportUnknownType(Body& body, const ast::Type& type, std::vector<Span> written) {
  const ast::Path& path = type.name;
  const std::string& name = path.parts[0].text;
  auto builder = body.env.Report(path.span, kUnknownType, {name});
  const auto ours = diag::OursFor(diag::Foreign::kType, name);
  if (std::find(kForeignTensors.begin(), kForeignTensors.end(), name) != kForeignTensors.end()) {
    builder.Help("a tensor is the type of its elements and its axes: `f32[h, w]`");
  } else if (std::find(kForAnything.begin(), kForAnything.end(), name) != kForAnything.end()) {
    builder.Help("a value has one type, which is written: `f32`, `list<string>`, `Box`; only of a `let` and of a node it may be left out");
  } else if (const std::string generic = OursForGeneric(type); !generic.empty()) {
    builder.Help("that is `" + generic + "` here");
  } else if (!ours.empty()) {
    builder.Help("that is `" + std::string(ours) + "` here");
  } else if (const std::string scalar = ScalarLike(name); !scalar.empty() && !diag::Suggest(name, TypeNames(body.module))) {
    builder.Help("did you mean `" + scalar + "`?");
  } else {
    builder.DidYouMean(path.span, name, [&] { return TypeNames(body.module); });
  }
  for (const Entity* import : body.module.imports) {
    const Entity* there = FindEntity(*import->target, name);
    if (there != nullptr && there->kind == EntityKind::kType)
      builder.Help("the module `" + import->name + "` has it: `" + import->name + "." + name + "`");
  }
  std::erase(written, path.span);
  builder.FixAlso(written);
  if (!written.empty())
    builder.Help("it is written in " + (written.size() == 1 ? "one more place" : std::to_string(written.size()) + " more places"));
}

TypeRef ResolveEntity(Body& body, const ast::Type& type) {
  Types& types = body.env.types;
  const std::string& name = type.name.parts[0].text;
  if (type.name.parts.size() == 1 && FindEntity(body.module, name) == nullptr &&
      (body.env.prelude == nullptr || FindEntity(*body.env.prelude, name) == nullptr)) {
    const bool is_muted = body.module.damaged || (body.self != nullptr && body.self->has_errors);
    if (is_muted || !UnknownTypesOf(body.env, body.module).told.insert(name).second) {
      ++body.env.untold;
    } else {
      ReportUnknownType(body, type, UnknownTypesOf(body.env, body.module).written[name]);
    }
    return types.Error();
  }
  Entity* entity = Lookup(body.env, body.module, type.name, body.self, {NameUse::kType, nullptr});
  if (entity == nullptr) return types.Error();
  if (entity->kind != EntityKind::kType) {
    body.env.Report(type.name.span, kWrongKind, {ast::ToString(type.name), NameOf(entity->kind), "a type"})
        .Label(entity->span, "declared here");
    return types.Error();
  }
  return entity->type;
}

TypeRef ResolveNamed(Body& body, const ast::Type& type, SymbolRule rule) {
  Types& types = body.env.types;
  TypeRef named = nullptr;
  const std::string& name = type.name.parts[0].text;
  const bool simple = type.name.parts.size() == 1;
  if (simple && (name == "list" || name == "map")) {
    named = ResolveContainer(body, type, rule);
    if (!type.is_tensor || named->kind == TypeKind::kError) return named;
  } else if (simple && DTypeNamed(name)) {
    named = types.Scalar(*DTypeNamed(name));
  } else if (simple && name == "string") {
    named = types.Simple(TypeKind::kString);
  } else if (simple && name == "bytes") {
    named = types.Simple(TypeKind::kBytes);
  } else if (simple && name == "data") {
    body.env.Report(type.name.span, kNotBuiltYet, {"the type `data`"});
    return types.Error();
  } else if (const auto variable = body.type_values.find(name); simple && variable != body.type_values.end()) {
    named = variable->second;
  } else {
    named = ResolveEntity(body, type);
  }
  if (type.argument && named->kind != TypeKind::kError && !(simple && (name == "list" || name == "map"))) {
    body.env.Report(type.span, kTypeArgument, {ast::ToString(type.name), "no type in `<>`"});
    return types.Error();
  }
  const bool is_foreign = named->kind == TypeKind::kError && !OursForGeneric(type).empty();  // its brackets hold no dimensions
  return type.is_tensor && !is_foreign ? TensorOf(body, type, named, rule) : named;
}

// The workflow whose signature is being read, or null.
const ast::WorkflowDecl* WorkflowOf(const Body& body) { return body.self == nullptr ? nullptr : ast::DynAs<ast::WorkflowDecl>(*body.self); }

TypeRef ResolveTuple(Body& body, const ast::Type& type, SymbolRule rule) {
  if (HasTooManyParts(body.env, type.fields.size(), kTupleHas, type.span)) return body.env.types.Error();
  const ast::WorkflowDecl* workflow = WorkflowOf(body);
  const bool is_result = workflow != nullptr && workflow->result.get() == &type;
  std::vector<Field> fields;
  std::unordered_map<std::string_view, Span> names;
  bool sound = true;
  for (const ast::Type::Field& field : type.fields) {
    const TypeRef resolved = ResolveType(body, *field.type, rule);
    if (field.external_name && !is_result) body.env.Report(field.span, kOuterName, {"a member of a tuple"});
    sound = sound && resolved->kind != TypeKind::kError;
    const auto [first, is_new] = names.emplace(field.label.text, field.label.span);
    if (is_new) {
      fields.push_back({field.label.text, resolved});
    } else {
      body.env.Report(field.label.span, kDuplicateName, {field.label.text}).Label(first->second, "first declared here");
      sound = false;
    }
  }
  const TypeRef tuple = sound ? body.env.types.Record("", std::move(fields)) : body.env.types.Error();
  return HasTooManyParts(body.env, tuple->parts, kTupleHas, type.span) ? body.env.types.Error() : tuple;
}

// Symbols that are written, but are in no dimension: `0*n` is 0.
void AddVanished(Body& body, const std::vector<ast::Param>& params, const Signature& signature,
                 std::map<std::string, std::string>& inside) {
  for (const std::string& symbol : signature.symbols) {
    const Span& at = body.symbols.find(symbol)->second;
    for (size_t i = 0; i < params.size(); ++i) {
      if (!params[i].type || signature.params[i].type->kind == TypeKind::kError) continue;
      const Span& type = params[i].type->span;
      const bool is_here = at.file == type.file && at.begin >= type.begin && at.end <= type.end;
      if (is_here) inside.emplace(symbol, body.env.input.sources.Text(type));
    }
  }
}

// A dimension that stands alone, or as a*n + b, somewhere in the parameters: what a call can solve.
void CheckSolvable(Body& body, const std::vector<ast::Param>& params, const Signature& signature) {
  std::map<std::string, std::string> inside;  // symbol -> dimension that holds it
  for (const SigParam& param : signature.params) {
    ForEachDim(param.type, [&](const Dim& dim) {
      for (const std::string& symbol : dim.Symbols()) inside.emplace(symbol, dim.ToString());
    });
  }
  AddVanished(body, params, signature, inside);
  for (const SigParam& param : signature.params) {
    ForEachDim(param.type, [&](const Dim& dim) {
      if (const auto linear = dim.AsLinear()) inside.erase(linear->symbol);
    });
  }
  std::map<std::string, std::string> first;  // of a dimension that holds several
  for (const auto& [symbol, dim] : inside) {
    if (std::find(signature.symbols.begin(), signature.symbols.end(), symbol) == signature.symbols.end()) continue;
    std::string& told = first.try_emplace(dim, symbol).first->second;
    if (body.symbols.find(symbol)->second.begin < body.symbols.find(told)->second.begin) told = symbol;
  }
  for (const auto& [dim, symbol] : first) body.env.Report(body.symbols.find(symbol)->second, kUnboundDimension, {symbol, dim});
}

}  // namespace

bool IsAny(const Dim& dim) { return dim.symbol() == std::string(kAnySymbol); }

bool IsReservedDimension(std::string_view symbol) { return symbol == onnx::kBatchSymbol; }

std::optional<diag::Builder> ReportNoExtent(const Env& env, const Dim& dim, const Span& span, std::string_view text) {
  switch (dim.fault()) {
    case Dim::Fault::kTooLarge: {
      constexpr size_t kTerms = Dim::kMaxTerms, kWeight = Dim::kMaxWeight;
      auto builder = env.Report(span, kTooLargeDimension, {std::string(text)});
      return builder.Help("written out, it has at most " + std::to_string(kTerms) + " terms of " + std::to_string(kWeight) +
                          " factors in all, and no number beyond `i64`");
    }
    case Dim::Fault::kDivisor0:
      return env.Report(span, kBadDimension, {std::string(text), "the divisor is 0"});
    case Dim::Fault::kNone:
      break;
  }
  const int64_t constant = dim.constant().value_or(0);
  if (constant >= 0 && constant <= abi::kMostExtent) return std::nullopt;
  return env.Report(span, kBadDimension, {dim.ToString(), constant < 0 ? "it is negative" : "it is too large"});
}

std::optional<DType> DTypeNamed(std::string_view name) {
  for (int dtype = 1; dtype <= static_cast<int>(DType::kF64); ++dtype) {
    if (ir::NameOf(static_cast<DType>(dtype)) == name) return static_cast<DType>(dtype);
  }
  return std::nullopt;
}

TypeRef ResolveType(Body& body, const ast::Type& type, SymbolRule rule) {
  Types& types = body.env.types;
  TypeRef resolved = types.Error();
  if (type.kind == ast::Type::Kind::kTuple) resolved = ResolveTuple(body, type, rule);
  if (type.kind == ast::Type::Kind::kNamed) resolved = ResolveNamed(body, type, rule);
  if (!type.optional || resolved->kind == TypeKind::kError) return resolved;
  if (resolved->kind == TypeKind::kOptional) {
    body.env.Report(type.span, kNestedOptional, {"`" + ToString(resolved) + "?`"});
    return types.Error();
  }
  return types.Optional(resolved);
}

Signature& NewSignature(Entity& entity) {
  entity.signature = std::make_unique<Signature>();
  entity.signature->name = entity.name;
  entity.signature->span = entity.span;
  return *entity.signature;
}

namespace {

// Frames and codecs hold all parameters as if they were the members of one tuple.
void LimitParameters(Env& env, std::vector<TypeRef>& types, Signature& out) {
  size_t parts = 0;
  for (const TypeRef type : types) parts += type->parts;
  if (HasTooManyParts(env, parts, "the parameters of `" + out.name + "` have", out.span)) types.assign(types.size(), env.types.Error());
}

// A dimension has the name of a parameter that is no integer.
void TellDimensionName(Body& body, const std::pair<const std::string, Span>& symbol, const ast::Name& param, TypeRef type, Signature& out) {
  if (type->kind == TypeKind::kError) return;
  body.env.Report(symbol.second, kDimensionName, {param.text, ToString(type)}).Label(param.span, "the parameter");
  body.taken_names.insert(param.text);
  out.broken = true;
}

}  // namespace

void ReadSignature(Body& body, const std::vector<ast::Param>& params, const ast::Type* result, Signature& out) {
  std::vector<TypeRef> param_types;
  for (const ast::Param& param : params) {
    if (param.external_name && WorkflowOf(body) == nullptr) body.env.Report(param.span, kOuterName, {"`" + param.name.text + "`"});
    param_types.push_back(param.type ? ResolveType(body, *param.type, SymbolRule::kDeclare) : body.env.types.Error());
  }
  LimitParameters(body.env, param_types, out);
  for (size_t i = 0; i < params.size(); ++i) {
    const TypeRef type = param_types[i];
    const bool is_new = !body.Find(params[i].name.text);
    const LocalId local = body.Declare(LocalKind::kParam, params[i].name, type);
    const bool is_integer = type->kind == TypeKind::kScalar && !ir::IsFloat(type->dtype) && type->dtype != DType::kBool;
    const auto symbol = body.symbols.find(params[i].name.text);
    if (is_integer) {
      body.infos[local].used = symbol != body.symbols.end();
      body.symbols.emplace(params[i].name.text, params[i].name.span);
      body.infos[local].value = Dim::Symbol(params[i].name.text);
    } else if (symbol != body.symbols.end() && is_new) {
      TellDimensionName(body, *symbol, params[i].name, type, out);
    }
    out.params.push_back({params[i].name.text, type, params[i].default_value.get(), params[i].span});
    out.broken = out.broken || type->kind == TypeKind::kError;
  }
  for (const auto& [symbol, span] : body.symbols) {
    const auto local = body.Find(symbol);
    if (!local || !body.infos[*local].value) out.symbols.push_back(symbol);
  }
  CheckSolvable(body, params, out);
  for (const auto& [name, dims] : body.rests) out.rests.push_back(name);
  const auto known = body.symbols;
  out.result = result != nullptr ? ResolveType(body, *result, SymbolRule::kDeclare) : body.env.types.Error();
  for (const auto& symbol : body.symbols) {
    if (known.contains(symbol.first)) continue;
    out.result_symbols.push_back(symbol.first);
    const auto param = std::find_if(params.begin(), params.end(), [&](const ast::Param& one) { return one.name.text == symbol.first; });
    if (param == params.end()) continue;
    TellDimensionName(body, symbol, param->name, param_types[static_cast<size_t>(param - params.begin())], out);
    out.result = body.env.types.Error();
  }
  body.symbols = known;  // what only the result names has no value in the body
  out.broken = out.broken || (result != nullptr && out.result->kind == TypeKind::kError);
  for (size_t i = 0; i < params.size(); ++i) {  // an integer parameter that only the result names
    if (!result || out.result->kind == TypeKind::kError) break;
    ForEachDim(out.result, [&](const Dim& dim) {
      for (const std::string& symbol : dim.Symbols()) {
        if (symbol == params[i].name.text) body.infos[i].used = true;
      }
    });
  }
}

TypeRef WithoutSymbols(Types& types, TypeRef type) {
  return MapDims(types, type, [](const Dim& dim) { return dim.is_constant() ? dim : AnyDim(); });
}

TypeRef MapDims(Types& types, TypeRef type, const std::function<Dim(const Dim&)>& map) {
  switch (type->kind) {
    case TypeKind::kTensor: {
      Type mapped = *type;
      for (Dim& dim : mapped.dims) dim = map(dim);
      return types.Intern(std::move(mapped));
    }
    case TypeKind::kList:
      return types.List(MapDims(types, type->element, map));
    case TypeKind::kMap:
      return types.Map(MapDims(types, type->element, map));
    case TypeKind::kOptional:
      return types.Optional(MapDims(types, type->element, map));
    case TypeKind::kRecord: {
      if (!type->name.empty()) return type;
      std::vector<Field> fields = type->fields;
      for (Field& field : fields) field.type = MapDims(types, field.type, map);
      return types.Record("", std::move(fields));
    }
    case TypeKind::kError:
    case TypeKind::kNever:
    case TypeKind::kNone:
    case TypeKind::kScalar:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kVariable:
      return type;
  }
  return type;
}

bool HasTooManyParts(Env& env, size_t parts, const std::string& what, const Span& span) {
  if (parts <= kMaxParts) return false;
  env.Report(span, kTooManyParts, {what, kMaxParts}).Help("where parts repeat, a list holds them");
  return true;
}

void ForEachDim(TypeRef type, const std::function<void(const Dim&)>& visit) {
  for (const Dim& dim : type->dims) visit(dim);
  if (type->element != nullptr && type->kind != TypeKind::kError) ForEachDim(type->element, visit);
  for (const Field& field : type->fields) ForEachDim(field.type, visit);
}

}  // namespace wf::sema
