#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/body.h"

namespace wf::sema {

// Builds the tables of all modules: one entity per declaration, imports bound to modules. Reports double names; what the loader could not
// import stays silent. Returns the modules in the order in which they can be checked.
std::vector<Module*> CollectModules(Env& env);

// True after a report: the name means something without being declared, and names are not shadowed (docs/semantics.md 29). The library
// itself may. `local`: what a body names; words that stand only in constants and tests, such as `lines`, are free there.
bool ReportIfBuiltIn(Env& env, const Module& module, const ast::Name& name, bool local);

// That a name is taken by what `other` declares, above or below.
diag::Builder ReportTwice(Env& env, const ast::Name& name, const Entity& other);

// A name at the top of `module`; null when there is none.
Entity* FindEntity(Module& module, std::string_view name);

// What the whole program calls a declaration, and no other of its kind: "Line" of the root, "nn.softmax", and "a.x.Line" where another
// module x has a Line, too.
std::string QualifiedName(const Env& env, const Entity& entity);
// What `module` itself writes for a type that has a name: "l2.Line" behind `import lib as l2;`.
std::string NameIn(const Module& module, TypeRef record);

struct Expected {
  NameUse use = NameUse::kAny;
  const Body* body = nullptr;  // its locals and dimensions are values
};

// The entity that `name` means in `module`: its own, or the prelude's. Reports and returns null when there is none, when it stands further
// down (a cycle if it is one) or belongs to something broken; marks it used. `self`: the declaration that is being checked.
Entity* Lookup(Env& env, Module& module, const ast::Name& name, const ast::Decl* self, const Expected& expected = {});
Entity* Lookup(Env& env, Module& module, const ast::Path& path, const ast::Decl* self, const Expected& expected = {});
Entity* LookupMember(Env& env, Module& target, const ast::Name& name, const Span& qualifier, const Expected& expected = {});

// The visible names of a body, and those of its module that are values.
std::vector<std::string> ValueNames(const Body& body);

// Whether declarations of it may be missing or broken because they did not parse.
bool IsDamaged(const Module& module);

// Warnings for what the root file imports and, in a program with a service, declares, and nothing uses.
void ReportUnused(Env& env, const Module& module);

}  // namespace wf::sema
