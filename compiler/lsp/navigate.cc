// Where a name is declared and used, and another name for it.

#include <algorithm>
#include <set>
#include <tuple>

#include "compiler/lsp/programs.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/uri.h"
#include "compiler/parse/words.h"

namespace wf::lsp {
namespace {

struct Use {
  std::string path;
  Span span;
  const Analysis* analysis;
  bool declaration;
};

// Every use of a thing, each place once.
std::vector<Use> UsesOf(const Programs& programs, const Analysis& analysis, Place thing) {
  const std::string path(analysis.sources().name(thing.file));
  std::vector<Use> uses;
  std::set<std::pair<std::string, uint32_t>> seen;
  for (const auto& [root, other] : programs.all()) {
    const auto file = other->FileNamed(path);
    if (!file) continue;
    const Place wanted{*file, thing.begin};
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

Programs ProgramsWith(Workspace& workspace, const Analysis& analysis, const Thing& thing) {
  return Programs(workspace, thing, std::string(analysis.sources().name(thing.span.file)));
}

const Occurrence* Here(const Query& query) { return query.analysis.index().At(query.file(), query.byte); }

// Why a thing keeps its name; empty: it may change.
std::string WhyNot(const Workspace& workspace, const Analysis& analysis, const Thing& thing) {
  const std::string_view file = analysis.sources().name(thing.span.file);
  if (file.starts_with(workspace.host().stdlib)) return "`" + thing.name + "` belongs to the standard library";
  const auto* import = thing.decl != nullptr ? ast::DynAs<ast::ImportDecl>(*thing.decl) : nullptr;
  if (import != nullptr && import->name.text.empty()) return "an import has the name of its file; write `as` for another";
  return "";
}

size_t ErrorsOf(const Analysis& analysis) { return analysis.diagnostics().error_count(); }

// Names are not shadowed, so a name that is taken is an error somewhere: the program is checked as it would be.
bool Collides(const Workspace& workspace, const Programs& programs, const std::vector<Use>& uses, const std::string& name) {
  std::map<std::string, std::string> texts;
  for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
    const auto [text, is_new] = texts.try_emplace(use->path);
    if (is_new) text->second = use->analysis->sources().text(use->span.file);
    text->second.replace(use->span.begin, use->span.end - use->span.begin, name);
  }
  for (const auto& [path, before] : programs.all()) {
    const bool touched = std::any_of(texts.begin(), texts.end(), [&](const auto& row) { return before->FileNamed(row.first).has_value(); });
    if (touched && ErrorsOf(*workspace.Try(path, texts)) > ErrorsOf(*before)) return true;
  }
  return false;
}

}  // namespace

Answer Definition(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Occurrence* here = query ? Here(*query) : nullptr;
  if (here == nullptr) return nullptr;
  const Analysis& analysis = query->analysis;
  const Thing& thing = *analysis.index().Find(here->thing);
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
  const Programs programs = ProgramsWith(workspace, query->analysis, *query->analysis.index().Find(here->thing));
  for (const Use& use : UsesOf(programs, query->analysis, here->thing)) {
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

Answer PrepareRename(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Occurrence* here = query ? Here(*query) : nullptr;
  if (here == nullptr) return nullptr;
  const Thing& thing = *query->analysis.index().Find(here->thing);
  if (std::string why = WhyNot(workspace, query->analysis, thing); !why.empty()) return Refusal{std::move(why)};
  return RangeOf(query->analysis.sources(), here->span);
}

Answer Rename(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Occurrence* here = query ? Here(*query) : nullptr;
  if (here == nullptr) return Refusal{"there is no name here"};
  const Thing& thing = *query->analysis.index().Find(here->thing);
  if (std::string why = WhyNot(workspace, query->analysis, thing); !why.empty()) return Refusal{std::move(why)};
  const std::string name = params.getString("newName").value_or("").str();
  if (!parse::IsName(name)) return Refusal{"`" + json::fixUTF8(name) + "` is no name"};
  const Programs programs = ProgramsWith(workspace, query->analysis, thing);
  if (!programs.complete()) return Refusal{"the workspace holds more files than are searched, and one of them may use the name"};
  const std::vector<Use> uses = UsesOf(programs, query->analysis, here->thing);
  if (name != thing.name && Collides(workspace, programs, uses, name))
    return Refusal{"`" + name + "` means something else where `" + thing.name + "` is used"};
  std::map<std::string, json::Array> edits;
  for (const Use& use : uses) edits[UriOf(use.path)].push_back(TextEdit(use.analysis->sources(), use.span, name));
  json::Object changes;
  for (auto& [uri, list] : edits) changes[uri] = std::move(list);
  return json::Value(json::Object{{"changes", std::move(changes)}});
}

}  // namespace wf::lsp
