// Names and members in expressions.

#include <algorithm>

#include "compiler/diag/foreign.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/forward.h"
#include "compiler/sema/library.h"
#include "compiler/sema/names.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

constexpr size_t kMembersNamed = 8;

// `a`, `b` and `c`, without the `and`.
std::string Quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + '`';
  return text;
}

ExprPtr ReadConst(const Entity& entity, const Span& span) {
  ExprPtr expr = Make(ExprKind::kConst, entity.type, span);
  expr->index = entity.index;
  return expr;
}

// An entity where a value is needed.
ExprPtr ReadEntity(Body& body, const Entity& entity, const std::string& text, const Span& span) {
  if (entity.kind == EntityKind::kConst) return ReadConst(entity, span);
  auto builder = body.env.Report(span, kWrongKind, {text, NameOf(entity.kind), "a value"});
  builder.Label(entity.span, "declared here");
  if (entity.kind == EntityKind::kError)
    builder.Help("it is raised by `fail " + text + "`; in an `else`, `err.code == " + std::to_string(entity.code) + "` asks for it");
  return Poison(body, span);
}

// The module that the object of a member expression names; null when it is a value.
Entity* ModuleNamed(Body& body, const ast::Expr& object) {
  const auto* name = ast::DynAs<ast::NameExpr>(object);
  if (name == nullptr || body.Find(name->name) || body.symbols.contains(name->name)) return nullptr;
  Entity* entity = FindEntity(body.module, name->name);
  return entity != nullptr && entity->kind == EntityKind::kModule ? entity : nullptr;
}

bool HasMember(TypeRef type, std::string_view name) {
  return type->kind == TypeKind::kRecord &&
         std::any_of(type->fields.begin(), type->fields.end(), [&](const Field& field) { return field.name == name; });
}

const ast::Type::Field* FindField(const ast::Type& type, std::string_view name) {
  const auto is_it = [&](const ast::Type::Field& field) { return field.label.text == name; };
  const auto at = std::find_if(type.fields.begin(), type.fields.end(), is_it);
  return at == type.fields.end() ? nullptr : &*at;
}

// `nn`, of an `import std.n;` that was reported.
bool IsMisspelledImport(const Module& module, const std::string& name) {
  return std::any_of(module.entities.begin(), module.entities.end(), [&](const auto& one) {
    const Entity& import = one.second;
    return import.kind == EntityKind::kModule && import.broken && diag::Suggest(name, {import.name});
  });
}

// `nn.softmax(x)` without the import: values have no functions, so the name is a module's.
bool ReportModuleUnknown(Body& body, const ast::Expr& object, const std::string& member) {
  const auto* name = ast::DynAs<ast::NameExpr>(object);
  if (name == nullptr || body.Find(name->name) || body.symbols.contains(name->name) || body.module.damaged) return false;
  if (FindEntity(body.module, name->name) != nullptr || IsBuiltinName(name->name)) return false;
  if (ReportForwardLocal(body, name->name, name->span)) return true;
  if (IsMisspelledImport(body.module, name->name)) {
    ++body.env.untold;
    return true;
  }
  auto builder = body.env.Report(name->span, kUnknownName, {name->name});
  if (IsOfLibrary(body.env, name->name)) {
    builder.Help(HelpToImport(name->name));
  } else if (IsBuiltinName(member)) {
    builder.Help("`" + member + "` is built in, and needs no module: `" + member + "(x)`");
  } else {
    std::vector<std::string> modules;
    for (const Entity* import : body.module.imports) modules.push_back(import->name);
    builder.DidYouMean(name->span, name->name, modules);
  }
  return true;
}

// The written type that names the fields of a value: of the result that a call has, or of a part of it.
const ast::Type* WrittenField(const Body& body, const Expr& field) {
  const ast::Type* whole = WrittenTypeOf(body, *field.args[0]);
  const ast::Type::Field* part = whole != nullptr ? FindField(*whole, field.args[0]->type->fields[field.index].name) : nullptr;
  return part != nullptr ? part->type.get() : nullptr;
}

// Of what a wrong call would yield: editors know its members.
ExprPtr ReadMeant(Body& body, TypeRef type, const ast::Name& member, const Span& span) {
  Sink* const sink = body.env.input.sink;
  if (type == nullptr || sink == nullptr) return Poison(body, span);
  sink->ReadMember(member.span, type);
  const auto is_it = [&](const Field& field) { return field.name == member.text; };
  const auto field = std::find_if(type->fields.begin(), type->fields.end(), is_it);
  if (field == type->fields.end()) return Poison(body, span);
  sink->UseField(member.span, type, *field);
  return Poison(body, span, field->type);
}

ExprPtr ReadField(Body& body, ExprPtr object, const ast::Name& member, const Span& span) {
  const TypeRef type = object->type;
  if (type->kind == TypeKind::kError) return ReadMeant(body, type->element, member, span);
  if (Sink* sink = body.env.input.sink) sink->ReadMember(member.span, type);
  if (type->kind == TypeKind::kOptional) {
    body.env.Report(object->span, kMayBeNone, {ToString(type)});
    return Poison(body, span);
  }
  if (type->kind == TypeKind::kNone) {
    ReportOpen(body, *object);
    return Poison(body, span);
  }
  for (uint32_t i = 0; i < type->fields.size(); ++i) {
    if (type->fields[i].name != member.text) continue;
    if (Sink* sink = body.env.input.sink) {
      sink->UseField(member.span, type, type->fields[i]);
      const ast::Type* written = WrittenTypeOf(body, *object);
      const ast::Type::Field* named = written != nullptr ? FindField(*written, member.text) : nullptr;
      if (named != nullptr) body.env.NoteUse(member.span, named->label.span);
    }
    ExprPtr field = Make(ExprKind::kField, type->fields[i].type, span);
    field->index = i;
    field->args.push_back(std::move(object));
    SettleRead(body, *field);
    return field;
  }
  const auto fields_of = [&] {
    std::vector<std::string> known;
    for (const Field& field : type->fields) known.push_back(field.name);
    return known;
  };
  auto builder =
      body.env.Report(member.span, kUnknownMember, {ToString(type), member.text}).DidYouMean(member.span, member.text, fields_of);
  const bool are_few = !type->fields.empty() && type->fields.size() <= kMembersNamed;
  if (are_few && !diag::Suggest(member.text, fields_of())) builder.Help("it has " + Quoted(fields_of()));
  const bool is_text = type->kind == TypeKind::kString, is_list = type->kind == TypeKind::kList;
  std::string library = type->kind == TypeKind::kRecord ? ""
                                                        : LibraryWith(body.env, member.text,
                                                                      is_text   ? "text"
                                                                      : is_list ? "lists"
                                                                                : "tensor");
  if (is_text && library != "text") library.clear();
  if (const auto help = diag::OursFor(diag::Foreign::kMember, member.text); !help.empty() && type->kind != TypeKind::kRecord)
    builder.Help(std::string(help));
  else if (!library.empty())
    builder.Help("it is a function of std." + library + ", `" + library + "." + member.text +
                 "`, and takes the value: `x |> f()` is `f(x)`");
  else if (type->kind == TypeKind::kTensor && IsReducer(member.text))
    builder.Help("`" + member.text + "[i](x[i])` goes through `x`");
  else if (is_list && IsReducer(member.text))
    builder.Help("`" + member.text + "[i < len(xs)](xs[i])` goes through `xs`");
  else if (type->kind != TypeKind::kRecord && IsBuiltinName(member.text) && member.text != NameOf(Builtin::kLen))
    builder.Help("`" + member.text + "` is a function: `" + member.text + "(" + CodeAt(body, object->span, "x") +
                 (member.text == "pow" || IsReducer(member.text) ? ", y)`" : ")`"));
  else if (type->kind == TypeKind::kTensor)
    builder.Help("`len(x)` is its first extent; a dimension that a type names, such as `n` of `f32[n]`, is read as a number");
  else if (NameOf(Builtin::kLen) == member.text || !OurNameFor(member.text).empty())
    builder.Help("`len(x)` is its length");
  else if (type->kind == TypeKind::kMap)
    builder.Help("a key is looked up as in `m[\"" + member.text + "\"]`, which is `none` where it is not there");
  else if (is_list && HasMember(type->element, member.text))
    builder.Help("its elements have it: `[x." + member.text + " for x in " + CodeAt(body, object->span, "xs") + "]`");
  else if (type->kind != TypeKind::kRecord)
    builder.Help("a value is given to a function: `f(x)`, or `x |> f()`");
  return Poison(body, span);
}

}  // namespace

const ast::Type* WrittenTypeOf(const Body& body, const Expr& value) {
  if (value.kind == ExprKind::kLocal) return body.infos[value.local].written;
  if (value.kind == ExprKind::kField) return WrittenField(body, value);
  const auto result = body.env.results.find({value.kind, value.index});
  return result == body.env.results.end() ? nullptr : result->second;
}

ExprPtr CheckName(Body& body, const ast::NameExpr& expr, const Where&) {
  const bool is_taken = body.taken_names.contains(expr.name);
  if (const auto local = body.Find(expr.name)) {
    ExprPtr value = ReadLocal(body, *local, expr.span);
    return is_taken ? Poison(body, expr.span) : std::move(value);
  }
  if (is_taken) return Poison(body, expr.span);
  if (const auto symbol = body.symbols.find(expr.name); symbol != body.symbols.end()) {
    body.env.NoteUse(expr.span, symbol->second);
    body.UseParametersOf(expr.name);
    ExprPtr value = Make(ExprKind::kDimValue, body.env.types.Scalar(DType::kI64), expr.span);
    value->dim = Dim::Symbol(expr.name);
    return value;
  }
  if (expr.name == "_") {
    body.env.Report(expr.span, kUnknownName, {"_"}).Help("`_` drops a value, it cannot be read");
    return Poison(body, expr.span);
  }
  if (IsBuiltinName(expr.name) && FindEntity(body.module, expr.name) == nullptr) {
    body.env.Report(expr.span, kWrongKind, {expr.name, "a built-in function", "a value"});
    return Poison(body, expr.span);
  }
  if (ReportForwardLocal(body, expr.name, expr.span)) return Poison(body, expr.span);
  Entity* entity = Lookup(body.env, body.module, {expr.name, expr.span}, body.self, {NameUse::kValue, &body});
  return entity == nullptr ? Poison(body, expr.span) : ReadEntity(body, *entity, expr.name, expr.span);
}

ExprPtr CheckMember(Body& body, const ast::MemberExpr& expr, const Where& where) {
  if (Entity* module = ModuleNamed(body, *expr.object)) {
    bool reported = false;
    Entity* entity = ResolveEntity(body, expr, NameUse::kValue, reported);
    if (entity == nullptr) return Poison(body, expr.span);
    return ReadEntity(body, *entity, module->name + '.' + expr.member.text, expr.span);
  }
  ExprPtr object = CheckExpr(body, *expr.object, nullptr, where);
  return ReadField(body, std::move(object), expr.member, expr.span);
}

Entity* ResolveEntity(Body& body, const ast::Expr& expr, NameUse use, bool& reported) {
  reported = false;
  if (const auto* name = ast::DynAs<ast::NameExpr>(expr)) {
    if (body.Find(name->name)) return nullptr;
    reported = ReportForwardLocal(body, name->name, name->span);
    if (reported) return nullptr;
    Entity* entity = Lookup(body.env, body.module, {name->name, name->span}, body.self, {use, &body});
    reported = entity == nullptr;
    return entity;
  }
  const auto* member = ast::DynAs<ast::MemberExpr>(expr);
  if (member == nullptr) return nullptr;
  Entity* module = ModuleNamed(body, *member->object);
  if (module == nullptr) {
    reported = use == NameUse::kCall && ReportModuleUnknown(body, *member->object, member->member.text);
    return nullptr;
  }
  reported = true;
  module->used = true;
  body.env.NoteUse(member->object->span, module->span);
  if (module->broken || module->twice || module->target == nullptr) return nullptr;
  Entity* entity = LookupMember(body.env, *module->target, member->member, member->object->span, {use, nullptr});
  reported = entity == nullptr;
  return entity;
}

}  // namespace wf::sema
