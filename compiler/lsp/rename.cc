// Another name for a thing: everywhere, or not at all.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/lsp/requests.h"
#include "compiler/lsp/uses.h"
#include "compiler/parse/words.h"
#include "compiler/sema/resolve_type.h"

namespace wf::lsp {
namespace {

bool IsBatchAxis(const Thing& thing, std::string_view name) {
  return thing.kind == ThingKind::kDimension && sema::IsReservedDimension(name);
}

// Why a thing keeps its name; empty: it may change.
std::string WhyNot(const Workspace& workspace, const Analysis& analysis, const Thing& thing) {
  const std::string_view file = analysis.sources().name(thing.span.file);
  if (file.starts_with(workspace.host().stdlib)) return "`" + thing.name + "` belongs to the standard library";
  const auto* import = thing.decl != nullptr ? ast::DynAs<ast::ImportDecl>(*thing.decl) : nullptr;
  if (import != nullptr && import->name.text.empty()) return "an import has the name of its file; write `as` for another";
  if (IsBatchAxis(thing, thing.name)) return "`batch` marks the batch axis of a model: it is a word of the language";
  return "";
}

std::set<FileId> FilesWithErrors(const Analysis& analysis) {
  std::set<FileId> files;
  for (const diag::Diagnostic& one : analysis.diagnostics().Sorted()) {
    if (one.severity == diag::Severity::kError) files.insert(one.span.file);
  }
  return files;
}

// Where a file with errors has the name and nobody knows what it means there; empty: nowhere.
std::string UnknownUse(const Programs& programs, const std::string& name) {
  for (const auto& [path, analysis] : programs.all()) {
    const source::SourceMap& sources = analysis->sources();
    for (const FileId file : FilesWithErrors(*analysis)) {
      const ast::File* tree = analysis->TreeOf(file);
      if (tree == nullptr || !programs.Concerns(sources.name(file))) continue;
      for (const Span& token : tree->tokens) {
        if (sources.Text(token) != name) continue;
        const Occurrence* known = analysis->index().At(file, token.begin);
        if (known == nullptr || known->span.begin != token.begin)
          return fmt::format("{}:{}", sources.name(file), sources.PositionOf(file, token.begin).line);
      }
    }
  }
  return "";
}

// The texts of some files with another name in some places.
class Renamed {
 public:
  Renamed(const std::vector<Use>& uses, const std::string& name) {
    for (auto use = uses.rbegin(); use != uses.rend(); ++use) {
      const auto [text, is_new] = texts_.try_emplace(use->path);
      if (is_new) text->second = use->analysis->sources().text(use->span.file);
      const uint32_t length = use->span.end - use->span.begin;
      text->second.replace(use->span.begin, length, name);
      longer_ = static_cast<int64_t>(name.size()) - length;
      places_[use->path].push_back(use->span.begin);
    }
  }

  // Every name of every program means what it meant, and no error has come.
  bool Keeps(const Workspace& workspace, const Programs& programs) const {
    return std::all_of(programs.all().begin(), programs.all().end(), [&](const Programs::Program& program) {
      const Analysis& before = *program.analysis;
      const bool touched =
          std::any_of(texts_.begin(), texts_.end(), [&](const auto& row) { return before.FileNamed(row.first).has_value(); });
      return !touched || MeansTheSame(before, *workspace.Try(before.start(), texts_));
    });
  }

  // The first error that would come; empty: none would.
  std::string Mistake(const Workspace& workspace, const Programs& programs) const {
    for (const auto& [path, analysis] : programs.all()) {
      std::set<std::string> known;
      for (const diag::Diagnostic& one : analysis->diagnostics().Sorted()) known.insert(one.message);
      const auto after = workspace.Try(analysis->start(), texts_);
      for (const diag::Diagnostic& one : after->diagnostics().Sorted()) {
        if (one.severity == diag::Severity::kError && !known.contains(one.message)) return one.message;
      }
    }
    return "";
  }

 private:
  bool MeansTheSame(const Analysis& before, const Analysis& after) const {
    if (after.diagnostics().error_count() > before.diagnostics().error_count()) return false;
    const auto moved = [&](Place place) { return Moved(before, place); };
    const auto &was = before.index().occurrences(), &is = after.index().occurrences();
    return std::equal(was.begin(), was.end(), is.begin(), is.end(), [&](const Occurrence& one, const Occurrence& other) {
      return moved(PlaceOf(one.span)) == PlaceOf(other.span) && moved(one.thing) == other.thing;
    });
  }

  Place Moved(const Analysis& analysis, Place place) const {
    const auto places = places_.find(std::string(analysis.sources().name(place.file)));
    if (places == places_.end()) return place;
    const auto count = std::count_if(places->second.begin(), places->second.end(), [&](uint32_t begin) { return begin < place.begin; });
    place.begin = static_cast<uint32_t>(place.begin + count * longer_);
    return place;
  }

  std::map<std::string, std::string> texts_;             // by path
  std::map<std::string, std::vector<uint32_t>> places_;  // where the old name began, by path
  int64_t longer_ = 0;                                   // the new name than the old
};

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

// Why the uses cannot have the new name; empty: they can.
std::string Collision(const Workspace& workspace, const Programs& programs, const std::vector<Use>& uses, const std::string& old,
                      const std::string& name) {
  const auto fits = [&](const std::string& one) { return one == old || Renamed(uses, one).Keeps(workspace, programs); };
  if (fits(name)) return "";
  const std::string why = "`" + name + "` means something else where `" + old + "` is used";
  if (fits(name + "_" + old)) return why;  // a name that begins like it and that nothing has
  const bool is_upper = IsUpper(name[0]);
  if (is_upper != IsUpper(old[0])) return why + ", since it begins with " + (is_upper ? "a capital" : "a small letter");
  const std::string mistake = Renamed(uses, name).Mistake(workspace, programs);
  if (!mistake.empty()) return "the program would have a mistake: " + mistake;
  return "the program would have mistakes: not all that `" + old + "` stands for is known";
}

}  // namespace

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
  if (IsBatchAxis(thing, name)) return Refusal{"`batch` marks the batch axis of a model: no dimension has this name"};
  const Programs programs = ProgramsWith(workspace, query->analysis, thing);
  if (!programs.complete()) return Refusal{"the workspace holds more files than are searched, and one of them may use the name"};
  if (!programs.unread().empty())
    return Refusal{"`" + json::fixUTF8(programs.unread()) + "` has `" + thing.name + "` and cannot be read whole: its syntax is wrong"};
  if (const std::string place = UnknownUse(programs, thing.name); !place.empty())
    return Refusal{"what `" + thing.name + "` means in `" + json::fixUTF8(place) + "` is not known while that file has errors"};
  const std::vector<Use> uses = UsesOf(programs, query->analysis, thing);
  if (std::string why = Collision(workspace, programs, uses, thing.name, name); !why.empty()) return Refusal{std::move(why)};
  std::map<std::string, json::Array> edits;
  for (const Use& use : uses) edits[use.path].push_back(TextEdit(use.analysis->sources(), use.span, name));
  return workspace.EditOf(std::move(edits));
}

}  // namespace wf::lsp
