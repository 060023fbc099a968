// Modules and files that may be named next.

#include <filesystem>

#include "compiler/lsp/completion.h"
#include "compiler/parse/words.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/consts.h"

namespace wf::lsp {
namespace {

// What a folder holds, in order; folders have a slash, and what is hidden is left out.
std::set<std::string> NamesIn(const std::string& folder) {
  constexpr size_t kMost = 1000;
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code gone;
    if (!name.starts_with('.')) names.insert(name + (at->is_directory(gone) ? "/" : ""));
    if (names.size() == kMost) break;
  }
  return names;
}

}  // namespace

void AddModules(Completion& at) {
  std::string prefix;
  for (size_t i = 1; i + 1 < at.context.words.size(); i += 2) prefix += at.context.words[i] + "/";
  const bool standard = prefix.starts_with("std/");
  if (prefix.empty()) at.items.Add("std", kModuleItem, "the standard library");
  const std::string folder = standard ? at.host.stdlib + prefix.substr(4) : at.query.analysis.start().folder + prefix;
  for (const std::string& name : NamesIn(folder)) {
    const bool is_prelude = standard && name == "prelude.wf";  // its names are everywhere
    const bool is_module = name.ends_with(".wf") && !is_prelude && folder + name != at.query.document.path;
    if (is_module) at.items.Add(name.substr(0, name.size() - 3), kModuleItem);
    const bool leads_on = !standard && name.ends_with('/') && parse::IsName(name.substr(0, name.size() - 1));
    if (leads_on) at.items.Add(name.substr(0, name.size() - 1), kModuleItem, "a folder");
  }
}

// Paths count from the file that they stand in.
void AddFiles(Completion& at) {
  const auto& words = at.context.words;
  if (words.size() < 2 || words.back() != "(") return;
  const std::string& taker = words[words.size() - 2];
  const bool model = taker == "onnx";
  if (!model && !sema::IsEmbedName(taker) && taker != sema::NameOf(sema::Builtin::kTokenizer)) return;
  const std::string typed = at.context.string.substr(0, at.context.string.rfind('/') + 1);
  const auto begin = static_cast<uint32_t>(at.query.byte - (at.context.string.size() - typed.size()));
  const std::string& own = at.query.document.path;
  const std::string folder = typed.starts_with('/') ? typed : own.substr(0, own.rfind('/') + 1) + typed;
  for (const std::string& name : NamesIn(folder)) {
    if (!name.ends_with('/') && ((model && !name.ends_with(".onnx")) || folder + name == own)) continue;
    at.items.Push(
        json::Object{{"label", json::fixUTF8(name)},
                     {"kind", static_cast<int>(name.ends_with('/') ? kFolderItem : kFileItem)},
                     {"textEdit", TextEdit(at.query.analysis.sources(), {at.query.file(), begin, at.query.byte}, json::fixUTF8(name))}});
  }
}

}  // namespace wf::lsp
