#include "compiler/sema/library.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/sema/builtins.h"

namespace wf::sema {
namespace {

std::filesystem::path FolderOf(const Env& env) {
  if (env.prelude == nullptr || env.prelude->file == nullptr) return {};
  return std::filesystem::path(env.input.sources.name(env.prelude->file->id)).parent_path();
}

bool Declares(const std::filesystem::path& file, std::string_view function) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    if (!rest.starts_with("fn ")) continue;
    rest.remove_prefix(3);
    if (rest.starts_with(function) && rest.substr(function.size()).find_first_of("(<") == 0) return true;
  }
  return false;
}

}  // namespace

bool IsOfLibrary(const Env& env, const std::string& module) {
  const std::filesystem::path folder = FolderOf(env);
  std::error_code ignored;
  return !folder.empty() && std::filesystem::exists(folder / (module + ".wf"), ignored);
}

std::string LibraryWith(const Env& env, std::string_view function) {
  const std::filesystem::path folder = FolderOf(env);
  if (folder.empty()) return "";
  std::set<std::string> modules;  // in one order, whatever that of the folder is
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".wf" && entry.path().stem() != "prelude") modules.insert(entry.path().stem().string());
  }
  for (const std::string& module : modules) {
    if (FindMember("std." + module, function) != nullptr || Declares(folder / (module + ".wf"), function)) return module;
  }
  return "";
}

std::string HelpToImport(const std::string& module) { return "a module is imported: `import std." + module + ";`"; }

}  // namespace wf::sema
