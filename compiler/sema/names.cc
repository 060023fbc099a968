#include "compiler/sema/names.h"

#include <algorithm>
#include <functional>

#include "compiler/diag/foreign.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/forward.h"
#include "compiler/sema/library.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/sink.h"

namespace wf::sema {
namespace {

constexpr std::string_view kPreludePath = "std.prelude";

std::optional<EntityKind> KindOf(const ast::Decl& decl) {
  switch (decl.kind) {
    case ast::DeclKind::kConstDecl:
      return EntityKind::kConst;
    case ast::DeclKind::kTypeDecl:
      return EntityKind::kType;
    case ast::DeclKind::kErrorCodeDecl:
      return EntityKind::kError;
    case ast::DeclKind::kFnDecl:
      return EntityKind::kFn;
    case ast::DeclKind::kExternDecl:
      return EntityKind::kExtern;
    case ast::DeclKind::kModelDecl:
      return EntityKind::kModel;
    case ast::DeclKind::kRemoteDecl:
      return EntityKind::kRemote;
    case ast::DeclKind::kWorkflowDecl:
      return EntityKind::kWorkflow;
    case ast::DeclKind::kServiceDecl:
      return EntityKind::kService;
    case ast::DeclKind::kImportDecl:
      return EntityKind::kModule;
    case ast::DeclKind::kTestDecl:
    case ast::DeclKind::kErrorDecl:
      return std::nullopt;
  }
  return std::nullopt;
}

// What the file calls a declaration; empty: nothing that was read.
ast::Name NameGivenTo(const ast::Decl& decl) {
  const auto* import = ast::DynAs<ast::ImportDecl>(decl);
  const bool unnamed = import != nullptr && decl.name.text.empty() && !import->path.parts.empty();
  return unnamed ? import->path.parts.back() : decl.name;
}

bool ImportsTheSame(const ast::Decl& a, const ast::Decl& b) {
  const auto *first = ast::DynAs<ast::ImportDecl>(a), *second = ast::DynAs<ast::ImportDecl>(b);
  return first != nullptr && second != nullptr && ast::ToString(first->path) == ast::ToString(second->path);
}

void DeclareEntity(Env& env, Module& module, const ast::Decl& decl) {
  const auto kind = KindOf(decl);
  if (decl.kind == ast::DeclKind::kErrorDecl && !decl.name.text.empty()) {  // it did not parse: its users stay silent
    Entity& entity = module.entities[decl.name.text];
    if (entity.decl != nullptr) return;
    entity.name = decl.name.text;
    entity.decl = &decl;
    entity.span = decl.name.span;
    entity.home = &module;
    entity.ready = entity.broken = true;
    return;
  }
  if (decl.kind == ast::DeclKind::kErrorDecl) module.damaged = true;
  if (!kind) return;
  const ast::Name name = NameGivenTo(decl);
  if (name.text.empty()) return;
  const auto [at, fresh] = module.entities.try_emplace(name.text);
  Entity& entity = at->second;
  if (!fresh) {
    if (entity.decl->kind == ast::DeclKind::kErrorDecl) return;  // it did not parse: what it declares is not known
    if (ImportsTheSame(*entity.decl, decl)) {
      env.Report(name.span, kDuplicateName, {name.text}).Label(entity.span, "first declared here").Help("a module is imported once");
      return;
    }
    auto builder = ReportTwice(env, name, entity);
    const auto are = [&](EntityKind a, EntityKind b) { return kind == a && entity.kind == b; };
    if (are(EntityKind::kService, EntityKind::kWorkflow) || are(EntityKind::kWorkflow, EntityKind::kService))
      builder.Help("a service has a name of its own, and publishes workflows under theirs: `service " + name.text + "s { workflow " +
                   name.text + "; }`");
    entity.twice = true;
    return;
  }
  entity.kind = *kind;
  entity.name = name.text;
  entity.decl = &decl;
  entity.home = &module;
  entity.span = name.span;
}

// What a word means before anything is declared; empty: nothing.
std::string_view BuiltInKind(Env& env, std::string_view name, bool local) {
  if (name == "list") return "a built-in type and function";
  if (DTypeNamed(name) || name == "string" || name == "bytes" || name == "map") return "a built-in type";
  const bool elsewhere = IsEmbedName(name) || name == "native" || name == NameOf(Builtin::kClose);
  if (elsewhere ? !local : IsBuiltinName(name)) return "a built-in function";
  if (IsBuiltInError(name)) return "a built-in error";
  if (name == "err") return "the failure that a fallback sees";
  if (env.prelude != nullptr && FindEntity(*env.prelude, name) != nullptr) return "a function of the library's prelude";
  return "";
}

void BindImport(Env& env, Module& module, const ast::ImportDecl& import) {
  const std::string path = ast::ToString(import.path);
  Entity* entity = FindEntity(module, NameGivenTo(import).text);
  if (entity == nullptr || entity->decl != &import) return;
  entity->ready = true;
  const auto target = std::find_if(env.modules.begin(), env.modules.end(), [&](const Module& m) { return m.path == path && !m.is_root; });
  if (target == env.modules.end()) {  // the loader has said why
    entity->broken = true;
    return;
  }
  entity->target = &*target;
  entity->broken = target->file == nullptr;
  module.imports.push_back(entity);
}

// Depth first over imports: a module is checked after those it imports. A circle has been reported by the loader.
void Visit(Module& module, std::vector<Module*>& order) {
  if (module.state != Module::State::kNew || module.file == nullptr) return;
  module.state = Module::State::kOpen;
  for (const ast::DeclPtr& decl : module.file->decls) {
    const auto* import = ast::DynAs<ast::ImportDecl>(*decl);
    Entity* entity = import != nullptr ? FindEntity(module, NameGivenTo(*import).text) : nullptr;
    if (entity == nullptr || entity->decl != import || entity->target == nullptr) continue;
    if (entity->target->state == Module::State::kOpen) entity->broken = true;
    Visit(*entity->target, order);
  }
  module.state = Module::State::kDone;
  order.push_back(&module);
}

std::optional<std::string> HelpWithout(EntityKind kind) {
  if (kind == EntityKind::kFn) return "a `fn` does not call itself; `fold` goes round a loop";
  if (kind == EntityKind::kWorkflow) return "a `workflow` does not call itself; `fold` goes round a loop";
  if (kind == EntityKind::kType) return "a record does not hold itself; a `list` of indices into a list does";
  return std::nullopt;
}

void ReportEarlyUse(Env& env, Module& module, Entity& entity, const Span& use, const ast::Decl* self) {
  if (entity.early_use_reported) return;
  entity.early_use_reported = true;
  const Cycles::Find find = [&](const std::string& name) -> std::optional<DeclaredBy> {
    const Entity* step = FindEntity(module, name);
    if (step == nullptr || step->decl == nullptr) return std::nullopt;
    return DeclaredBy{step->span, step->decl};
  };
  const auto way = self == nullptr ? std::nullopt : module.cycles.WayTo(entity.name, self->name.text, find);
  const bool waits = entity.kind == EntityKind::kWorkflow || entity.kind == EntityKind::kModel || entity.kind == EntityKind::kRemote;
  if (!way && waits && self != nullptr && self->kind == ast::DeclKind::kFnDecl) {  // further up it could not be called there either
    env.Report(use, kWaitingCallOutsideNode, {entity.name, "may wait", "a `fn`"})
        .Label(entity.span, "declared here")
        .Help(std::string(Where().instead));
    return;
  }
  if (!way) {
    env.Report(use, kUsedBeforeDeclared, {entity.name}).Label(entity.span, "declared here");
    return;
  }
  for (const Step& step : *way) FindEntity(module, step.name)->early_use_reported = true;  // the circle is told once
  ReportCycle(env, use, *way).HelpIf(HelpWithout(entity.kind));
}

Entity* Usable(Env& env, Module& module, Entity& entity, const Span& use, const ast::Decl* self) {
  entity.used = true;
  env.NoteUse(use, entity.span);
  if (entity.ready || entity.twice) return entity.broken || entity.twice ? nullptr : &entity;
  ReportEarlyUse(env, module, entity, use, self);
  return nullptr;
}

bool Fits(EntityKind kind, NameUse use) {
  switch (use) {
    case NameUse::kAny:
      return true;
    case NameUse::kValue:
      return kind == EntityKind::kConst || kind == EntityKind::kModule;
    case NameUse::kCall:
      return kind == EntityKind::kFn || kind == EntityKind::kExtern || kind == EntityKind::kModel || kind == EntityKind::kRemote ||
             kind == EntityKind::kWorkflow || kind == EntityKind::kType || kind == EntityKind::kModule;
    case NameUse::kType:
      return kind == EntityKind::kType || kind == EntityKind::kModule;
    case NameUse::kError:
      return kind == EntityKind::kError || kind == EntityKind::kModule;
    case NameUse::kWorkflow:
      return kind == EntityKind::kWorkflow || kind == EntityKind::kModule;
    case NameUse::kModel:
      return kind == EntityKind::kModel || kind == EntityKind::kModule;
  }
  return true;
}

// `outside`: what of the library has no documentation is its own, and named to nobody else.
void AddNames(const Module& module, NameUse use, bool outside, std::vector<std::string>& names) {
  for (const auto& [name, entity] : module.entities) {
    if (outside && module.is_std && entity.decl->doc.empty()) continue;
    const bool unknown = entity.decl->kind == ast::DeclKind::kErrorDecl;  // it did not parse: it may be anything
    if (unknown || Fits(entity.kind, use)) names.push_back(name);
  }
}

std::vector<std::string> CandidatesFor(Env& env, const Module& module, const Expected& expected) {
  std::vector<std::string> names;
  const bool values = expected.use == NameUse::kAny || expected.use == NameUse::kValue;
  if (expected.body != nullptr && values) names = expected.body->VisibleNames();
  AddNames(module, expected.use, /*outside=*/false, names);
  if (env.prelude != nullptr) AddNames(*env.prelude, expected.use, &module != env.prelude, names);
  if (expected.use == NameUse::kCall) AddBuiltinNames(names);
  return names;
}

}  // namespace

void Env::NoteUse(const Span& use, const Span& declared) const {
  if (input.sink != nullptr) input.sink->Use(use, declared);
}

std::string_view NameOf(EntityKind kind) {
  switch (kind) {
    case EntityKind::kConst:
      return "a `const`";
    case EntityKind::kType:
      return "a type";
    case EntityKind::kError:
      return "an error";
    case EntityKind::kFn:
      return "a `fn`";
    case EntityKind::kExtern:
      return "an `extern`";
    case EntityKind::kModel:
      return "a model";
    case EntityKind::kRemote:
      return "a remote";
    case EntityKind::kWorkflow:
      return "a workflow";
    case EntityKind::kService:
      return "a service";
    case EntityKind::kModule:
      return "an imported module";
  }
  return "a name";
}

std::vector<Module*> CollectModules(Env& env) {
  for (const SourceModule& source : env.input.modules) {
    Module& module = env.modules.emplace_back();
    module.path = source.path;
    module.file = source.file;
    module.is_root = env.modules.size() == 1;
    module.is_std = source.path.starts_with("std.");
    if (source.path == kPreludePath) env.prelude = &module;
    if (source.file == nullptr) continue;
    module.damaged = source.file->skipped_text;
    for (const ast::DeclPtr& decl : source.file->decls) DeclareEntity(env, module, *decl);
  }
  for (Module& module : env.modules) {
    if (module.file == nullptr) continue;
    for (const ast::DeclPtr& decl : module.file->decls) {
      if (const auto* import = ast::DynAs<ast::ImportDecl>(*decl)) BindImport(env, module, *import);
    }
    for (const auto& [name, entity] : module.entities) {
      const bool is_missing = entity.kind == EntityKind::kModule && entity.broken;  // a file that is there may have another name
      const bool is_library = entity.target != nullptr && entity.target->is_std;    // std.json, which no call of `json(..)` means
      if (entity.decl->kind != ast::DeclKind::kErrorDecl && !is_missing && !is_library)
        ReportIfBuiltIn(env, module, {name, entity.span}, false);
    }
  }
  if (env.input.sink != nullptr) env.input.sink->Collected(env.modules);
  std::vector<Module*> order;
  if (env.prelude != nullptr) Visit(*env.prelude, order);
  for (Module& module : env.modules) Visit(module, order);
  return order;
}

bool ReportIfBuiltIn(Env& env, const Module& module, const ast::Name& name, bool local) {
  if (module.is_std) return false;
  const std::string_view kind = BuiltInKind(env, name.text, local);
  if (kind.empty()) return false;
  env.Report(name.span, kBuiltInName, {name.text, kind}).Help("call it something else, as in `" + name.text + "_`");
  return true;
}

diag::Builder ReportTwice(Env& env, const ast::Name& name, const Entity& other) {
  const bool is_first = other.span.begin < name.span.begin;  // a local may stand above what the file declares
  auto builder =
      env.Report(name.span, kDuplicateName, {name.text}).Label(other.span, is_first ? "first declared here" : "also declared here");
  if (other.kind == EntityKind::kModule) builder.Help("an import can have another name: `import .. as " + name.text + "_;`");
  return builder;
}

Entity* FindEntity(Module& module, std::string_view name) {
  const auto at = module.entities.find(name);
  return at == module.entities.end() ? nullptr : &at->second;
}

std::string QualifiedName(const Env& env, const Entity& entity) {
  const auto last = [](const Module& module) { return std::string_view(module.path).substr(module.path.rfind('.') + 1); };
  const Module& home = *entity.home;
  if (home.is_root) return entity.name;
  const bool is_shared = std::any_of(env.modules.begin(), env.modules.end(), [&](const Module& other) {
    if (&other == &home || other.is_root || last(other) != last(home)) return false;
    const auto namesake = other.entities.find(entity.name);
    return namesake != other.entities.end() && namesake->second.kind == entity.kind;
  });
  return (is_shared ? home.path : std::string(last(home))) + "." + entity.name;
}

std::string NameIn(const Module& module, TypeRef record) {
  const std::string name = record->name.substr(record->name.rfind('.') + 1);
  if (module.file->id == record->declared.file) return name;
  for (const Entity* import : module.imports) {
    if (import->target->file != nullptr && import->target->file->id == record->declared.file) return import->name + "." + name;
  }
  return record->name;  // a value of it came through another module
}

namespace {

// A local that is known no more. `err` has a help of its own.
std::optional<LocalId> FindLeft(const Expected& expected, std::string_view name) {
  if (expected.body == nullptr || name == "err") return std::nullopt;
  return expected.body->FindLeft(name);
}

std::string NameOfImport(const Module& module, std::string_view path) {
  const auto is_it = [&](const Entity* import) { return import->target->path == path; };
  const auto at = std::find_if(module.imports.begin(), module.imports.end(), is_it);
  return at == module.imports.end() ? "" : (*at)->name;
}

// A name of what stands around, which is not seen: of a test by its stubs, of parameters by their defaults.
bool HelpWithOuter(const Body& around, std::string_view name, diag::Builder& builder) {
  const auto local = around.Find(name);
  const auto symbol = around.symbols.find(name);
  if (!local && symbol == around.symbols.end()) return false;
  if (local && around.infos[*local].kind != LocalKind::kParam) {
    builder.Label(around.locals[*local].span, "of the test")
        .Help("a stub sees its parameters and what is declared outside of tests, as a `const`");
    return true;
  }
  builder.Label(local ? around.locals[*local].span : symbol->second, local ? "a parameter" : "a dimension of a parameter")
      .Help("a default is computed when compiled: it sees constants, and no parameters");
  return true;
}

// A name of another language: what is near it here is not what is meant.
bool HelpWithForeign(std::string_view name, const Expected& expected, diag::Builder& builder) {
  std::string_view type = expected.use == NameUse::kCall ? diag::OursFor(diag::Foreign::kType, name) : "";
  if (type.empty()) type = OurNameFor(name);
  if (!type.empty()) builder.Help("that is `" + std::string(type) + "(x)` here");
  bool is_foreign = !type.empty();
  for (const auto kind : {diag::Foreign::kName, diag::Foreign::kCall}) {
    const auto help = diag::OursFor(kind, name);
    if (!help.empty()) builder.Help(std::string(help));
    is_foreign = is_foreign || !help.empty();
  }
  return is_foreign;
}

void ReportUnknown(Env& env, Module& module, const ast::Name& name, const Expected& expected) {
  auto builder = env.Report(name.span, kUnknownName, {name.text});
  if (const auto left = FindLeft(expected, name.text)) {
    const LocalKind kind = expected.body->infos[*left].kind;
    builder.Label(expected.body->locals[*left].span, "bound here, and known inside alone");
    if (kind == LocalKind::kLet || kind == LocalKind::kNode) builder.Help("bind it before the block, or make it the value of the block");
    return;
  }
  if (expected.body != nullptr && expected.body->around != nullptr && HelpWithOuter(*expected.body->around, name.text, builder)) return;
  if (const std::string library = LibraryWith(env, name.text); !library.empty()) {
    const std::string known = NameOfImport(module, "std." + library);
    if (known.empty()) builder.Help(HelpToImport(library));
    builder.Help("it is called `" + (known.empty() ? library : known) + "." + name.text + "`");
    return;
  }
  if (!HelpWithForeign(name.text, expected, builder))
    builder.DidYouMean(name.span, name.text, [&] { return CandidatesFor(env, module, expected); });
}

}  // namespace

Entity* Lookup(Env& env, Module& module, const ast::Name& name, const ast::Decl* self, const Expected& expected) {
  Entity* entity = FindEntity(module, name.text);
  if (entity == nullptr && env.prelude != nullptr) entity = FindEntity(*env.prelude, name.text);
  if (entity != nullptr) return Usable(env, module, *entity, name.span, self);
  if (module.damaged) {
    ++env.untold;
  } else {
    ReportUnknown(env, module, name, expected);
  }
  return nullptr;
}

namespace {

// What a module has in place of what it has not.
void HelpWithMembers(const Module& module, const std::vector<std::string>& names, diag::Builder& builder) {
  constexpr size_t kMostNamed = 6;
  if (names.size() > kMostNamed && module.is_std) builder.Help("`wfc doc " + module.path + "` prints what it has");
  if (names.empty() || names.size() > kMostNamed) return;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "`" : ", `") + name + "`";
  builder.Help("it has " + known);
}

}  // namespace

Entity* LookupMember(Env& env, Module& target, const ast::Name& name, const Span& qualifier, const Expected& expected) {
  Entity* entity = FindEntity(target, name.text);
  if (FindMember(target.path, name.text) != nullptr) {  // calls of them do not come here
    env.Report(name.span, kWrongKind, {name.text, "a built-in function", expected.use == NameUse::kType ? "a type" : "a value"});
    return nullptr;
  }
  if (entity == nullptr && target.damaged) {
    ++env.untold;
    return nullptr;
  }
  if (entity == nullptr || entity->kind == EntityKind::kModule) {
    std::vector<std::string> names;
    AddNames(target, expected.use, /*outside=*/true, names);
    for (const BuiltinInfo& row : kBuiltins) {
      if (expected.use == NameUse::kCall && row.module == target.path) names.emplace_back(row.name);
    }
    auto builder = env.Report(name.span, kUnknownMember, {target.path, name.text});
    builder.Label(qualifier, "the module `" + target.path + "`").DidYouMean(name.span, name.text, [&] { return names; });
    if (diag::Suggest(name.text, names)) return nullptr;
    if (target.is_std && expected.use == NameUse::kCall && IsReducer(name.text)) {
      const bool is_list = target.path == "std.lists";
      builder.Help("`" + name.text + (is_list ? "[i < len(xs)](xs[i])` goes through `xs`" : "[i](x[i])` goes through `x`"));
      return nullptr;
    }
    HelpWithMembers(target, names, builder);
    return nullptr;
  }
  return Usable(env, target, *entity, name.span, nullptr);
}

Entity* Lookup(Env& env, Module& module, const ast::Path& path, const ast::Decl* self, const Expected& expected) {
  Entity* entity = Lookup(env, module, path.parts.front(), self, expected);
  if (path.parts.size() == 1 || entity == nullptr) return entity;
  if (entity->kind != EntityKind::kModule || path.parts.size() > 2) {
    const ast::Name& wrong = path.parts[entity->kind == EntityKind::kModule ? 2 : 1];
    env.Report(wrong.span, kUnknownMember, {ast::ToString(path).substr(0, ast::ToString(path).rfind('.')), wrong.text});
    return nullptr;
  }
  return LookupMember(env, *entity->target, path.parts[1], path.parts[0].span, expected);
}

std::vector<std::string> ValueNames(const Body& body) {
  std::vector<std::string> names = body.VisibleNames();
  AddNames(body.module, NameUse::kValue, /*outside=*/false, names);
  return names;
}

bool IsDamaged(const Module& module) {
  const auto broken = [](const ast::DeclPtr& decl) { return decl->kind == ast::DeclKind::kErrorDecl || decl->has_errors; };
  return module.damaged || std::any_of(module.file->decls.begin(), module.file->decls.end(), broken);
}

void ReportUnused(Env& env, const Module& module) {
  if (IsDamaged(module) || env.mistakes() > 0) return;      // it may be meant by what is misspelled, or was not looked at
  const bool is_whole = !env.program.services.empty();      // else other programs may import it
  const bool may_be_raised = !env.program.externs.empty();  // in C++, by its name
  for (const auto& [name, entity] : module.entities) {
    if (entity.used || entity.broken || name.starts_with('_') || entity.kind == EntityKind::kService) continue;
    if (entity.kind == EntityKind::kModule) {
      env.Report(entity.decl->span, kUnused, {"import", name}).Fix(entity.decl->span, "");
    } else if (is_whole && !(may_be_raised && entity.kind == EntityKind::kError)) {
      const std::string_view kind = NameOf(entity.kind);
      env.Report(entity.span, kUnused, {kind.substr(kind.find(' ') + 1), name});
    }
  }
}

}  // namespace wf::sema
