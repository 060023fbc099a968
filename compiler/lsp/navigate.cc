// Where a name is declared and used.

#include "compiler/lsp/requests.h"
#include "compiler/lsp/uses.h"

namespace wf::lsp {

Answer Definition(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Thing* spoken = query ? SpokenAt(*query).thing : nullptr;
  if (spoken == nullptr) return nullptr;
  const Analysis& analysis = query->analysis;
  const Thing& thing = *spoken;
  const ast::File* module = thing.target.empty() ? nullptr : analysis.TreeOf(thing.target);
  return LocationOf(analysis.sources(), module != nullptr ? Span{module->id, 0, 0} : thing.span);
}

Answer References(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Occurrence* here = query ? Here(*query) : nullptr;
  if (here == nullptr) return nullptr;
  const json::Object* context = params.getObject("context");
  const bool declarations = context == nullptr || context->getBoolean("includeDeclaration").value_or(true);
  json::Array locations;
  const Thing& thing = *query->analysis.index().Find(here->thing);
  const Programs programs = ProgramsWith(workspace, query->analysis, thing);
  for (const Use& use : UsesOf(programs, query->analysis, thing)) {
    if (declarations || !use.declaration) locations.push_back(LocationOf(use.analysis->sources(), use.span));
  }
  return locations;
}

Answer Highlights(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Occurrence* here = query ? Here(*query) : nullptr;
  if (here == nullptr) return nullptr;
  json::Array highlights;
  for (const Occurrence& one : query->analysis.index().occurrences()) {
    if (one.thing != here->thing || one.span.file != query->file()) continue;
    highlights.push_back(
        json::Object{{"range", RangeOf(query->analysis.sources(), one.span)}, {"kind", PlaceOf(one.span) == one.thing ? 3 : 2}});
  }
  return highlights;
}

}  // namespace wf::lsp
