#pragma once

#include <string>
#include <vector>

#include "compiler/lsp/workspace.h"

namespace wf::lsp {

// The members of the value that the expression `words`[..`end`] names, as far as names, calls, members and elements lead: `b`,
// `b[0].corner`, `f(x, 1)`. `locals`: what may stand there beside declarations.
std::vector<FieldText> MembersOf(const Query& query, const std::vector<const Thing*>& locals, const std::vector<std::string>& words,
                                 size_t end);

}  // namespace wf::lsp
