#include "compiler/lsp/uses.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace wf::lsp {

const Occurrence* Here(const Query& query) { return query.analysis.index().At(query.file(), query.byte); }

Spoken SpokenAt(const Query& query) {
  const Index& index = query.analysis.index();
  if (const Occurrence* here = Here(query)) return {index.Find(here->thing), here->span};
  const ast::File* tree = query.analysis.tree();
  for (size_t i = 0; tree != nullptr && i < tree->decls.size(); ++i) {
    const auto* import = ast::DynAs<ast::ImportDecl>(*tree->decls[i]);
    const bool is_there = import != nullptr && !import->path.parts.empty();
    if (!is_there || query.byte < import->path.span.begin || query.byte > import->path.span.end) continue;
    const ast::Name& name = import->name.text.empty() ? import->path.parts.back() : import->name;
    return {index.Find(PlaceOf(name.span)), import->path.span};
  }
  return {};
}

Programs ProgramsWith(Workspace& workspace, const Analysis& analysis, const Thing& thing) {
  return Programs(workspace, thing, std::string(analysis.sources().name(thing.span.file)));
}

std::vector<Use> UsesOf(const Programs& programs, const Analysis& analysis, const Thing& thing) {
  const std::string path(analysis.sources().name(thing.span.file));
  std::vector<Use> uses;
  std::set<std::pair<std::string, uint32_t>> seen;
  for (const auto& [root, other] : programs.all()) {
    const auto file = other->FileNamed(path);
    if (!file) continue;
    const Place wanted{*file, thing.span.begin};
    for (const Occurrence& one : other->index().occurrences()) {
      if (one.thing != wanted) continue;
      std::string name(other->sources().name(one.span.file));
      if (!seen.emplace(name, one.span.begin).second) continue;
      uses.push_back({std::move(name), one.span, other, PlaceOf(one.span) == one.thing});
    }
  }
  std::sort(uses.begin(), uses.end(),
            [](const Use& a, const Use& b) { return std::tie(a.path, a.span.begin) < std::tie(b.path, b.span.begin); });
  return uses;
}

}  // namespace wf::lsp
