#include "compiler/driver/loader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/base/ascii.h"
#include "compiler/base/program_files.h"
#include "compiler/diag/foreign.h"
#include "compiler/driver/files.h"
#include "compiler/driver/library_parts.h"
#include "compiler/parse/parse.h"
#include "runtime/base/ascii.h"

namespace wf::driver {
namespace {

using source::Span;

constexpr std::string_view kPrelude = "std.prelude", kStandard = "std.";

std::vector<std::string> ProgramsIn(const std::string& folder) {
  constexpr size_t kMaxEntries = 1'000;
  std::vector<std::string> programs;
  std::error_code error;
  size_t entries = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end && ++entries < kMaxEntries; at.increment(error)) {
    if (at->path().extension() == ".wf") programs.push_back(at->path().lexically_normal().string());
  }
  std::sort(programs.begin(), programs.end());
  return programs;
}

// What may be meant by a file that is none: what lies in the folder of that name, or has a name that is near.
std::optional<std::string> ProgramInsteadOf(const std::string& name) {
  constexpr size_t kShown = 3;
  std::vector<std::string> inside = ProgramsIn(name);
  std::error_code error;
  if (std::filesystem::exists(name, error)) {
    if (inside.empty()) return std::nullopt;
    const bool more = inside.size() > kShown;
    inside.resize(std::min(inside.size(), kShown));
    return fmt::format("in it {} `{}`{}", inside.size() == 1 ? "is" : "are", fmt::join(inside, "`, `"), more ? " and others" : "");
  }
  if (std::filesystem::exists(name + ".wf", error)) return fmt::format("did you mean `{}.wf`?", name);
  return diag::Suggest(name, ProgramsIn(FolderOf(name).empty() ? "." : FolderOf(name)));
}

class Loader {
 public:
  Loader(const std::string& root, const LoaderOptions& options, source::SourceMap& sources, diag::Emitter& emitter)
      : root_(root),
        folder_(options.folder.empty() ? FolderOf(root) : options.folder),
        options_(options),
        sources_(sources),
        emitter_(emitter) {}

  std::vector<Module> Load();

 private:
  size_t Find(const std::string& path, const Span& span);
  void Read(size_t number, const std::string& file_name, const Span& span);
  void ParseText(size_t number, source::FileId id, std::string_view text);
  void ReadLibrary();
  void FollowImports(size_t number);
  void FindCircles(size_t number, std::vector<size_t>& way);
  void ReportCircle(const Span& closing, const std::vector<size_t>& way);
  std::vector<std::string> Importable(bool standard_alone) const;
  std::optional<std::string> StandardNamed(std::string_view name) const;
  std::optional<std::string> ModuleOf(const std::string& path) const;
  std::string FileOf(const std::string& path) const;
  std::string PathOfRoot() const;

  const std::string& root_;
  const std::string folder_;  // from which imports count
  const LoaderOptions& options_;
  source::SourceMap& sources_;
  diag::Emitter& emitter_;
  std::vector<Module> modules_;
  std::map<std::string, size_t> by_path_;
  size_t bytes_ = 0;

  struct Import {
    size_t target;
    Span span;
  };
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Links {
    std::string file_name;
    std::vector<Import> imports;
    State state = State::kNew;
    bool told = false;  // it is on a circle that is reported
  };
  std::vector<Links> links_;  // of each module

  struct Waiting {
    size_t number;
    source::FileId id;
    size_t parts;  // its number there
  };
  LibraryParts parts_;
  std::vector<Waiting> waiting_;  // modules of the library, until all words of the program are known
};

std::string Loader::FileOf(const std::string& path) const {
  const bool standard = path.starts_with(kStandard);
  std::string relative = standard ? path.substr(kStandard.size()) : path;
  std::replace(relative.begin(), relative.end(), '.', '/');
  return (standard ? options_.stdlib : folder_) + relative + ".wf";
}

// How an import names the root, if it can.
std::string Loader::PathOfRoot() const {
  std::string path = std::filesystem::path(root_.starts_with(folder_) ? root_.substr(folder_.size()) : root_).replace_extension().string();
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// What an import may name: modules of the standard library, and files below the program's folder.
std::vector<std::string> Loader::Importable(bool standard_alone) const {
  constexpr size_t kMaxFiles = 1'000, kMaxEntries = 5'000;  // of a folder that is not the program's alone
  std::vector<std::string> paths;
  const auto add = [&](const std::string& folder, std::string_view prefix) {
    for (const std::string& file : source::ProgramFilesBelow(folder, kMaxFiles, kMaxEntries).paths) {
      std::string path = std::filesystem::path(file).lexically_relative(folder).replace_extension().string();
      std::replace(path.begin(), path.end(), '/', '.');
      path.insert(0, prefix);
      const bool is_path =
          std::all_of(path.begin(), path.end(), [](char c) { return base::IsLetter(c) || base::IsDigit(c) || c == '_' || c == '.'; });
      if (is_path && path != kPrelude && FileOf(path) != root_) paths.push_back(std::move(path));
    }
  };
  add(options_.stdlib, kStandard);
  if (!standard_alone) add(folder_.empty() ? "." : folder_, "");
  return paths;
}

// Where the library has a module of that name, in whatever case: its path.
std::optional<std::string> Loader::StandardNamed(std::string_view name) const {
  for (std::string& path : Importable(true)) {
    if (base::EqualIgnoringCase(std::string_view(path).substr(kStandard.size()), name)) return std::move(path);
  }
  return std::nullopt;
}

// `lib` of `lib.P`, where that is a file.
std::optional<std::string> Loader::ModuleOf(const std::string& path) const {
  const size_t last = path.rfind('.');
  if (last == std::string::npos) return std::nullopt;
  std::string whole = path.substr(0, last);
  std::error_code error;
  return std::filesystem::is_regular_file(FileOf(whole), error) ? std::optional(std::move(whole)) : std::nullopt;
}

void Loader::Read(size_t number, const std::string& file_name, const Span& span) {
  if (options_.on_read) options_.on_read(file_name);
  auto held = options_.overlay != nullptr ? (*options_.overlay)(file_name) : std::nullopt;
  base::Result<std::string> text = held ? std::move(*held) : ReadFile(file_name, options_.max_file_bytes);
  if (text.ok() && (bytes_ += text->size()) > options_.max_program_bytes)
    text = base::Status(base::kResourceExhausted, fmt::format("the program is larger than {} MiB", options_.max_program_bytes >> 20));
  if (!text.ok()) {
    if (number == 0) {
      emitter_.Emit(span, diag::kCannotReadFile, {file_name, text.status().message()}).HelpIf(ProgramInsteadOf(file_name));
    } else {
      const std::string& path = modules_[number].path;
      const bool is_unknown = path.starts_with(kStandard) && text.status().code() == base::kNotFound;
      const std::string why =
          is_unknown ? "the standard library has no such module" : fmt::format("`{}`: {}", file_name, text.status().message());
      auto builder = emitter_.Emit(span, diag::kImportNotRead, {path, why});
      const std::string own = is_unknown ? path.substr(kStandard.size()) : path;  // `std.math` is the `math` of others
      const std::string first = own.substr(0, own.find('.'));
      const size_t last = path.rfind('.');
      if (const auto whole = ModuleOf(path); whole && text.status().code() == base::kNotFound) {
        builder.Help(fmt::format("a module is imported whole: `import {0};`, and then `{1}.{2}` is what it declares", *whole,
                                 whole->substr(whole->rfind('.') + 1), path.substr(last + 1)));
      } else if (path + '.' == kStandard) {
        builder.Help("the standard library is imported by the module: `import std.nn;`");
      } else if (const auto help = diag::OursFor(diag::Foreign::kModule, first); !help.empty()) {
        builder.Help(std::string(help));
      } else if (const auto standard = StandardNamed(path); standard && text.status().code() == base::kNotFound) {
        builder.Help("did you mean `" + *standard + "`?");
      } else if (is_unknown) {
        builder.DidYouMeanOneOf(span, path, Importable(true));
      } else if (text.status().code() == base::kNotFound) {
        builder.DidYouMean(span, path, [&] { return Importable(false); });
      }
    }
    return;
  }
  const source::FileId id = sources_.Add(file_name, *std::move(text));
  if (options_.needed_alone && number != 0 && modules_[number].path.starts_with(kStandard)) {
    waiting_.push_back({number, id, parts_.AddModule(sources_.text(id))});
    return;
  }
  if (options_.needed_alone) parts_.AddProgram(sources_.text(id));
  ParseText(number, id, sources_.text(id));
}

void Loader::ParseText(size_t number, source::FileId id, std::string_view text) {
  const std::string& file_name = links_[number].file_name;
  ParsedFiles* const parsed = number == 0 ? nullptr : options_.parsed;
  std::shared_ptr<const ast::File>& tree = modules_[number].file;
  if (parsed != nullptr) tree = parsed->Find(file_name, id, text);
  if (tree != nullptr) return;
  const auto told = [&] { return emitter_.error_count() + emitter_.warning_count(); };
  const size_t told_before = told();
  auto file = parse::Parse(id, text, emitter_, number == 0 ? parse::Role::kProgram : parse::Role::kImport);
  if (file) tree = std::make_shared<const ast::File>(std::move(*file));
  if (file && parsed != nullptr && told() == told_before) parsed->Add(file_name, text, tree);
}

// Of the modules that wait: what they import, and then the trees of what is needed of them.
void Loader::ReadLibrary() {
  for (size_t at = 0; at < waiting_.size(); ++at) {
    for (const std::string& path : parts_.ImportsOf(waiting_[at].parts)) Find(path, {});  // may wait behind
  }
  for (const Waiting& module : waiting_) ParseText(module.number, module.id, parts_.TextOf(module.parts));
  for (const Waiting& module : waiting_) FollowImports(module.number);
}

// The number of the module, read now if it is new.
size_t Loader::Find(const std::string& path, const Span& span) {
  const auto [row, is_new] = by_path_.try_emplace(path, modules_.size());
  if (!is_new) return row->second;
  modules_.push_back({path, nullptr});
  links_.push_back({.file_name = FileOf(path), .imports = {}});
  Read(row->second, FileOf(path), span);
  return row->second;
}

void Loader::FollowImports(size_t number) {
  if (modules_[number].file == nullptr) return;
  const ast::File& file = *modules_[number].file;  // the file stays where it is while modules_ grows
  for (const ast::DeclPtr& decl : file.decls) {
    const auto* import = ast::DynAs<ast::ImportDecl>(*decl);
    if (import == nullptr) continue;
    if (modules_.size() >= options_.max_modules) {
      emitter_.Emit(import->span, diag::kTooManyModules, {options_.max_modules});
      return;
    }
    const size_t target = Find(ast::ToString(import->path), import->path.span);
    links_[number].imports.push_back({target, import->path.span});
  }
}

void Loader::ReportCircle(const Span& closing, const std::vector<size_t>& way) {
  std::string path;
  for (const size_t number : way) path += fmt::format("`{}` → ", links_[number].file_name);
  auto builder = emitter_.Emit(closing, diag::kImportCircle, {path + fmt::format("`{}`", links_[way.front()].file_name)});
  for (size_t i = 0; i + 1 < way.size(); ++i) {
    const auto& imports = links_[way[i]].imports;
    const auto step = std::find_if(imports.begin(), imports.end(), [&](const Import& import) { return import.target == way[i + 1]; });
    builder.Label(step->span, "on the way round");
  }
  if (way.size() > 1) builder.Help("move what they need of each other into a file that imports none of them");
}

// Depth first; `way` leads from the root to `number`. Files of a circle that has been told close no other.
void Loader::FindCircles(size_t number, std::vector<size_t>& way) {
  links_[number].state = State::kOpen;
  way.push_back(number);
  for (const Import& import : links_[number].imports) {
    const Links& target = links_[import.target];
    if (target.state == State::kNew) FindCircles(import.target, way);
    if (target.state != State::kOpen || (target.told && links_[number].told)) continue;
    const auto from = std::find(way.begin(), way.end(), import.target);
    ReportCircle(import.span, {from, way.end()});
    for (auto at = from; at != way.end(); ++at) links_[*at].told = true;
  }
  way.pop_back();
  links_[number].state = State::kDone;
}

std::vector<Module> Loader::Load() {
  modules_.push_back({});
  links_.push_back({.file_name = root_, .imports = {}});
  if (const auto path = PathOfRoot(); FileOf(path) == root_) by_path_.emplace(path, 0);  // an import of the root
  Read(0, root_, {});
  for (size_t at = 0; at < modules_.size(); ++at) FollowImports(at);
  const std::string prelude(kPrelude);
  if (modules_[0].file != nullptr && !by_path_.contains(prelude) && access(FileOf(prelude).c_str(), R_OK) == 0) {
    const size_t from = modules_.size();
    Find(prelude, {});
    for (size_t at = from; at < modules_.size(); ++at) FollowImports(at);
  }
  ReadLibrary();
  std::vector<size_t> way;
  for (size_t at = 0; at < modules_.size(); ++at) {
    if (links_[at].state == State::kNew) FindCircles(at, way);
  }
  return std::move(modules_);
}

}  // namespace

std::vector<Module> LoadProgram(const std::string& root, const LoaderOptions& options, source::SourceMap& sources, diag::Emitter& emitter) {
  return Loader(root, options, sources, emitter).Load();
}

}  // namespace wf::driver
