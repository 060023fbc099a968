#include "compiler/lsp/uses.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace wf::lsp {

const Occurrence* Here(const Query& query) { return query.analysis.index().At(query.file(), query.byte); }

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
