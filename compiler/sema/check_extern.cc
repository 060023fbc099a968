// What is called but written elsewhere: functions in C++, and workflows of other servers.

#include <algorithm>
#include <charconv>

#include "compiler/sema/check_decl.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/settings.h"

namespace wf::sema {
namespace {

// `-> (y: T)` is `-> T` (docs/semantics.md 27).
TypeRef BareResult(TypeRef result) {
  const bool is_tuple = result->kind == TypeKind::kRecord && result->name.empty();
  return is_tuple && result->fields.size() == 1 ? result->fields[0].type : result;
}

// Reads the signature into the entity; the parameters become locals of `body`.
void ReadCallable(Body& body, Entity& entity, const std::vector<ast::Param>& params, const ast::TypePtr& result) {
  Signature& signature = NewSignature(entity);
  body.silenced = true;
  ReadSignature(body, params, result.get(), signature);
  signature.result = BareResult(signature.result);
  signature.may_fail = true;
  CheckDefaults(body, params, signature);
}

// A struct without members is larger in C++ than a record without fields.
TypeRef WithoutFields(TypeRef type) {
  if (type->kind == TypeKind::kRecord && type->fields.empty()) return type;
  if (type->element != nullptr) return WithoutFields(type->element);
  for (const Field& field : type->fields) {
    if (const TypeRef found = WithoutFields(field.type)) return found;
  }
  return nullptr;
}

// The one plain string between the brackets of `cpp(..)`, or the first of `oip(..)`; null for another binding.
const std::string* FirstText(const ast::Binding& binding, std::string_view function, std::string& buffer) {
  if (binding.function.text != function || binding.arguments.empty() || binding.arguments[0].label) return nullptr;
  return PlainText(*binding.arguments[0].value, buffer);
}

bool ReadSource(Env& env, const ast::ExternDecl& decl, Extern& out) {
  std::string name;
  if (FirstText(decl.binding, "cpp", name) == nullptr || decl.binding.arguments.size() != 1) {
    ReportBinding(env, decl.binding, "cpp", kExternBinding);
    return false;
  }
  const Span& span = decl.binding.arguments[0].span;
  out.source = PathBeside(env, span, name).string();
  return env.input.options.without_externs || ReadEmbedded(env, span, name) != nullptr;
}

// They share one namespace of C++, whatever module they stand in.
bool IsTaken(Env& env, const Entity& entity) {
  const auto same =
      std::find_if(env.program.externs.begin(), env.program.externs.end(), [&](const Extern& other) { return other.name == entity.name; });
  if (same == env.program.externs.end()) return false;
  env.Report(entity.span, kDuplicateName, {entity.name})
      .Label(same->span, "first declared here")
      .Help("the externs of all modules are functions of one namespace in C++");
  return true;
}

// "host:8001"
bool IsAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string_view port = std::string_view(text).substr(colon == std::string::npos ? text.size() : colon + 1);
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return colon != 0 && error == std::errc() && end == port.data() + port.size() && number > 0;
}

bool ReadOip(Env& env, const ast::Binding& binding, Remote& out) {
  std::string address, model;
  bool sound = FirstText(binding, "oip", address) != nullptr && IsAddress(address) && binding.arguments.size() <= 2;
  if (sound && binding.arguments.size() == 2) {
    const ast::Argument& second = binding.arguments[1];
    sound = second.label && second.label->text == "model" && PlainText(*second.value, model) != nullptr && !model.empty();
  }
  if (!sound) ReportBinding(env, binding, "oip", kRemoteBinding);
  out.address = address;
  out.model = model.empty() ? out.name : model;
  return sound;
}

}  // namespace

void CheckExtern(Env& env, Module& module, Entity& entity, const ast::ExternDecl& decl) {
  Body body(env, module, &decl);
  const Scope scope(body);
  if (!decl.type_params.empty()) env.Report(decl.type_params.front().span, kStdOnly, {"a type variable"});
  ReadCallable(body, entity, decl.params, decl.result);
  Signature& signature = *entity.signature;
  signature.may_wait = decl.is_node;
  Extern out{.name = entity.name,
             .is_node = decl.is_node,
             .span = entity.span,
             .signature = {decl.span.file, decl.span.begin, decl.result->span.end}};
  entity.broken = decl.has_errors || !decl.type_params.empty() || IsTaken(env, entity);
  if (decl.has_errors) return;
  if (decl.binding.settings) ReadSettings(env, decl.binding.settings->settings, kInExtern);
  std::string symbol;
  const bool is_native = module.is_std && FirstText(decl.binding, "native", symbol) != nullptr;  // of the runtime, and never long
  entity.broken = (!is_native && !ReadSource(env, decl, out)) || entity.broken;
  std::vector<TypeRef> types{signature.result};
  for (const SigParam& param : signature.params) types.push_back(param.type);
  for (const TypeRef type : types) {
    const TypeRef empty = WithoutFields(type);
    if (empty == nullptr || entity.broken) continue;
    env.Report(decl.name.span, kExternType, {ToString(empty)});
    entity.broken = true;
  }
  if (entity.broken || signature.broken) return;
  Function function{.name = entity.name, .locals = body.locals, .n_params = static_cast<uint32_t>(signature.params.size())};
  function.result = signature.result;
  function.native = is_native ? symbol : "wf_x_" + entity.name;
  function.is_extern = !is_native;
  function.may_fail = true;
  function.span = entity.span;
  out.function = entity.index = static_cast<uint32_t>(env.program.functions.size());
  env.program.functions.push_back(std::move(function));
  if (!is_native) env.program.externs.push_back(std::move(out));
}

void CheckRemote(Env& env, Module& module, Entity& entity, const ast::RemoteDecl& decl) {
  Body body(env, module, &decl);
  const Scope scope(body);
  ReadCallable(body, entity, decl.params, decl.result);
  entity.signature->may_wait = true;
  Remote out{.name = entity.name, .address = {}, .model = {}, .span = entity.span};
  entity.broken = decl.has_errors;
  if (decl.has_errors) return;
  if (decl.binding.settings) ReadSettings(env, decl.binding.settings->settings, kInRemote);
  entity.broken = !ReadOip(env, decl.binding, out);
  if (entity.broken) return;
  entity.index = static_cast<uint32_t>(env.program.remotes.size());
  env.program.remotes.push_back(std::move(out));
}

}  // namespace wf::sema
