#include "compiler/lsp/workspace.h"

#include <algorithm>
#include <filesystem>

#include "compiler/lsp/uri.h"
#include "runtime/base/path.h"

namespace wf::lsp {
namespace {

using base::FolderOf;

}  // namespace

void Workspace::Open(const std::string& uri, std::string text, int64_t version) {
  Document& document = documents_[uri];
  document.uri = uri;
  document.path = PathOf(uri);
  document.folder = FolderOf(document.path);
  Change(uri, std::move(text), version);
}

void Workspace::Change(const std::string& uri, std::string text, int64_t version) {
  Document* document = Find(uri);
  if (document == nullptr) return;
  document->text = std::move(text);
  document->version = version;
  Forget(document->path);
}

void Workspace::Close(const std::string& uri) {
  const auto at = documents_.find(uri);
  if (at == documents_.end()) return;
  const std::string path = at->second.path;
  documents_.erase(at);
  Forget(path);
}

// Whatever read the file is stale; so is what could not read some file, which may be this one.
void Workspace::Forget(const std::string& path) {
  constexpr size_t kMostStale = 8;  // of an editor that never pauses
  if (stale_.size() > kMostStale) FreeStale();
  for (auto& [uri, document] : documents_) {
    if (!document.analysis) continue;
    const auto& modules = document.analysis->modules();
    const bool lacks = std::any_of(modules.begin(), modules.end(), [](const LoadedModule& module) { return !module.file; });
    if (document.path != path && !lacks && !document.analysis->FileNamed(path)) continue;
    document.to_publish = true;
    if (IsWhole(document.analysis->tree())) std::swap(document.last_sound, document.analysis);
    stale_.push_back(std::move(document.analysis));
  }
}

void Workspace::ForgetFiles() {
  for (auto& [uri, document] : documents_) {
    document.analysis.reset();
    document.to_publish = true;
  }
}

Document* Workspace::Find(const std::string& uri) {
  const auto at = documents_.find(uri);
  return at == documents_.end() ? nullptr : &at->second;
}

const Document* Workspace::OpenAt(const std::string& path) const {
  const auto at = std::find_if(documents_.begin(), documents_.end(), [&](const auto& row) { return row.second.path == path; });
  return at == documents_.end() ? nullptr : &at->second;
}

const std::string* Workspace::OpenText(const std::string& path) const {
  const Document* document = OpenAt(path);
  return document != nullptr ? &document->text : nullptr;
}

std::string Workspace::UriOfFile(const std::string& path) const {
  const Document* document = OpenAt(path);
  return document != nullptr ? document->uri : UriOf(path);
}

json::Value Workspace::EditOf(std::map<std::string, json::Array> edits_by_path) const {
  json::Object changes;
  json::Array versioned;
  for (auto& [path, edits] : edits_by_path) {
    const Document* document = OpenAt(path);
    const std::string uri = UriOfFile(path);
    json::Object text{{"uri", uri}, {"version", document != nullptr ? json::Value(document->version) : json::Value(nullptr)}};
    if (knows_versioned_edits) {
      versioned.push_back(json::Object{{"textDocument", std::move(text)}, {"edits", std::move(edits)}});
    } else {
      changes[uri] = std::move(edits);
    }
  }
  if (knows_versioned_edits) return json::Object{{"documentChanges", std::move(versioned)}};
  return json::Object{{"changes", std::move(changes)}};
}

const Analysis& Workspace::AnalysisOf(Document& document) {
  if (!document.analysis) {
    document.analysis = Analyse(document.path, document.folder);
    document.folder = document.analysis->start().folder;
    if (IsWhole(document.analysis->tree())) stale_.push_back(std::move(document.last_sound));
  }
  return *document.analysis;
}

// A file that the program of a folder above it imports names its own imports from there.
std::unique_ptr<Analysis> Workspace::Analyse(const std::string& path, const std::string& folder, const Texts& texts_by_path) const {
  auto analysis = Try({path, folder}, texts_by_path);
  const std::string other = FolderFor(*analysis);
  return other == folder ? std::move(analysis) : Try({path, other}, texts_by_path);
}

std::unique_ptr<Analysis> Workspace::AnalysisWith(const Document& document, const std::string& text) const {
  return Analyse(document.path, document.folder, {{document.path, text}});
}

// The nearest folder from the file upwards, inside the workspace, that has all that the file imports; else the one that it was read from.
std::string Workspace::FolderFor(const Analysis& analysis) const {
  const auto& [path, folder] = analysis.start();
  const auto has_all = [&](const std::string& from) {
    const ast::File* tree = analysis.tree();
    return tree == nullptr || std::all_of(tree->decls.begin(), tree->decls.end(), [&](const ast::DeclPtr& decl) {
             const auto* import = ast::DynAs<ast::ImportDecl>(*decl);
             std::string file = import != nullptr ? ast::ToString(import->path) : "";
             if (file.empty() || file.starts_with("std.")) return true;
             std::replace(file.begin(), file.end(), '.', '/');
             file = from + file + ".wf";
             std::error_code error;
             return OpenAt(file) != nullptr || std::filesystem::is_regular_file(file, error);
           });
  };
  if (has_all(folder)) return folder;
  for (std::string above = FolderOf(path); IsInside(above); above = FolderOf(above.substr(0, above.size() - 1))) {
    if (has_all(above)) return above;
  }
  return folder;
}

bool Workspace::IsInside(const std::string& folder) const {
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const std::string& root) { return folder.starts_with(root.ends_with('/') ? root : root + "/"); });
}

std::unique_ptr<Analysis> Workspace::Try(const Root& root, const std::map<std::string, std::string>& texts_by_path) const {
  const Overlay overlay = [&](const std::string& name) -> std::optional<std::string> {
    const std::string normal = PathOf(UriOf(name));
    if (const auto text = texts_by_path.find(normal); text != texts_by_path.end()) return text->second;
    const std::string* text = OpenText(normal);
    return text != nullptr ? std::optional(*text) : std::nullopt;
  };
  return std::make_unique<Analysis>(root, host_, overlay, &folded_);
}

std::shared_ptr<const Analysis> Workspace::AnalysisOfFile(const std::string& path) {
  const auto open = [this](const std::string& name) { return OpenText(PathOf(UriOf(name))); };
  return closed_files_.Find(path, open, [&] { return Analyse(path, FolderOf(path)); });
}

void Workspace::AddFolder(const std::string& uri) {
  if (std::string path = PathOf(uri); path.starts_with('/')) folders_.insert(std::move(path));
}

void Workspace::RemoveFolder(const std::string& uri) {
  folders_.erase(PathOf(uri));
  closed_files_.Clear();
}

Document* Workspace::DocumentIn(const json::Object& params) {
  const json::Object* named = params.getObject("textDocument");
  const auto uri = named != nullptr ? named->getString("uri") : std::nullopt;
  return uri ? Find(uri->str()) : nullptr;
}

std::optional<Query> Workspace::Read(const json::Object& params) {
  Document* document = DocumentIn(params);
  if (document == nullptr) return std::nullopt;
  const Analysis& analysis = AnalysisOf(*document);
  if (analysis.root() == FileId::kNone) return std::nullopt;
  return Query{*document, analysis, ByteOf(analysis.sources().text(analysis.root()), ReadPosition(params.getObject("position")))};
}

}  // namespace wf::lsp
