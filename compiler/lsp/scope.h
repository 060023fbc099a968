#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/lsp/workspace.h"

// What a name means where a text that is being typed may not parse.
namespace wf::lsp {

bool IsLocal(ThingKind kind);  // known inside one declaration alone

// The present analysis, then the last that parsed whole.
std::vector<const Analysis*> AnalysesOf(const Query& query);

// The declaration that is being typed, by place in the present text and by name in another; null: none.
const ast::Decl* DeclAround(const Query& query, const Analysis& analysis);

// Declarations of the root file, the present ones first.
std::vector<const Thing*> DeclaredIn(const Query& query);

// What is built in: known everywhere (`module` empty), a member of a module of the library, or a reducer, which has indices.
const Thing* BuiltIn(std::string_view module, std::string_view name, bool indexed);

// What `name(` calls, or `module.name(`, or `name[..](`; null: nothing that is known.
const Thing* CalleeOf(const Query& query, const std::string& module, const std::string& name, bool indexed = false);

}  // namespace wf::lsp
