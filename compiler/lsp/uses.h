#pragma once

#include <string>
#include <vector>

#include "compiler/lsp/programs.h"

// What stands at the place of a request, and where else it is named.
namespace wf::lsp {

struct Use {
  std::string path;
  Span span;
  const Analysis* analysis;
  bool declaration;
};

const Occurrence* Here(const Query& query);  // null: no name

// What the place of a request speaks of, and by which words: of the path of an import the module, whatever its name is here.
struct Spoken {
  const Thing* thing = nullptr;  // null: nothing
  Span span;
};
Spoken SpokenAt(const Query& query);

Programs ProgramsWith(Workspace& workspace, const Analysis& analysis, const Thing& thing);

// Every use of a thing, each place once, by path and place.
std::vector<Use> UsesOf(const Programs& programs, const Analysis& analysis, const Thing& thing);

}  // namespace wf::lsp
