#pragma once

#include <string>
#include <vector>

#include "compiler/lsp/workspace.h"

// What a name means where a text that is being typed may not parse.
namespace wf::lsp {

bool IsLocal(ThingKind kind);  // known inside one declaration alone

// The present analysis, then the last that parsed whole.
std::vector<const Analysis*> AnalysesOf(const Query& query);

// Declarations of the root file, the present ones first.
std::vector<const Thing*> DeclaredIn(const Query& query);

// What `name(` calls, or `module.name(`; null: nothing that is declared.
const Thing* CalleeOf(const Query& query, const std::string& module, const std::string& name);

}  // namespace wf::lsp
