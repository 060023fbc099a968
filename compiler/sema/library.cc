#include "compiler/sema/library.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "compiler/sema/builtins.h"
#include "compiler/sema/env.h"

namespace wf::sema {
namespace {

std::filesystem::path FolderOf(const Env& env) {
  if (env.prelude == nullptr || env.prelude->file == nullptr) return {};
  return std::filesystem::path(env.input.sources.name(env.prelude->file->id)).parent_path();
}

// Those that have documentation: the others are the library's own.
void ReadFunctions(const std::filesystem::path& file, const std::string& module, Library& library) {
  std::ifstream lines(file);
  bool is_told = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_doc = line.starts_with("///");
    const bool follows_doc = std::exchange(is_told, is_doc);
    if (is_doc || !follows_doc) continue;
    for (const std::string_view word : {"fn ", "extern node "}) {
      const size_t end = line.find_first_of("(<");
      if (!line.starts_with(word) || end == std::string::npos) continue;
      library.holding[line.substr(word.size(), end - word.size())].push_back(module);
    }
  }
}

Library Read(const std::filesystem::path& folder) {
  Library library;
  if (folder.empty()) return library;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::filesystem::path& file = entry.path();
    if (file.extension() == ".wf" && file.stem() != "prelude") library.modules.insert(file.stem().string());
  }
  for (const std::string& module : library.modules) {  // in one order, whatever that of the folder is
    for (const BuiltinInfo& row : kBuiltins) {
      if (row.module == "std." + module) library.holding[std::string(row.name)].push_back(module);
    }
    ReadFunctions(folder / (module + ".wf"), module, library);
  }
  return library;
}

const Library& LibraryOf(Env& env) {
  if (!env.library) env.library = Read(FolderOf(env));
  return *env.library;
}

}  // namespace

bool IsOfLibrary(Env& env, const std::string& module) { return LibraryOf(env).modules.contains(module); }

std::string LibraryWith(Env& env, std::string_view function, std::string_view preferred) {
  const Library& library = LibraryOf(env);
  const auto at = library.holding.find(function);
  if (at == library.holding.end()) return "";
  const auto found = std::find(at->second.begin(), at->second.end(), preferred);
  return found != at->second.end() ? *found : at->second.front();
}

std::string HelpToImport(const std::string& module) { return "a module is imported: `import std." + module + ";`"; }

}  // namespace wf::sema
