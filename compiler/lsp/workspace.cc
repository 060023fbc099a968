#include "compiler/lsp/workspace.h"

#include <algorithm>

#include "compiler/lsp/uri.h"

namespace wf::lsp {
namespace {

bool ParsedWhole(const Analysis& analysis) {
  if (analysis.tree() == nullptr) return false;
  const auto& decls = analysis.tree()->decls;
  return std::none_of(decls.begin(), decls.end(),
                      [](const ast::DeclPtr& decl) { return decl->kind == ast::DeclKind::kErrorDecl || decl->has_errors; });
}

}  // namespace

void Workspace::Open(const std::string& uri, std::string text, int64_t version) {
  Document& document = documents_[uri];
  document.uri = uri;
  document.path = PathOf(uri);
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
    if (ParsedWhole(*document.analysis)) std::swap(document.last_sound, document.analysis);
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

const std::string* Workspace::OpenText(const std::string& path) const {
  for (const auto& [uri, document] : documents_) {
    if (document.path == path) return &document.text;
  }
  return nullptr;
}

const Analysis& Workspace::AnalysisOf(Document& document) {
  if (!document.analysis) {
    document.analysis = Try(document.path, {});
    if (ParsedWhole(*document.analysis)) stale_.push_back(std::move(document.last_sound));
  }
  return *document.analysis;
}

std::unique_ptr<Analysis> Workspace::Try(const std::string& path, const std::map<std::string, std::string>& texts_by_path) const {
  const Overlay overlay = [&](const std::string& name) -> std::optional<std::string> {
    const std::string normal = PathOf(UriOf(name));
    if (const auto text = texts_by_path.find(normal); text != texts_by_path.end()) return text->second;
    const std::string* text = OpenText(normal);
    return text != nullptr ? std::optional(*text) : std::nullopt;
  };
  return std::make_unique<Analysis>(path, host_, overlay);
}

std::shared_ptr<const Analysis> Workspace::AnalysisOfFile(const std::string& path) {
  const auto open = [this](const std::string& name) { return OpenText(PathOf(UriOf(name))); };
  return closed_files_.Find(path, open, [&] { return Try(path, {}); });
}

void Workspace::AddFolder(const std::string& uri) {
  if (std::string path = PathOf(uri); path.starts_with('/')) folders_.insert(std::move(path));
}

void Workspace::RemoveFolder(const std::string& uri) {
  folders_.erase(PathOf(uri));
  closed_files_.Clear();
}

std::optional<Query> Workspace::Read(const json::Object& params) {
  const json::Object* named = params.getObject("textDocument");
  const auto uri = named != nullptr ? named->getString("uri") : std::nullopt;
  Document* document = uri ? Find(uri->str()) : nullptr;
  if (document == nullptr) return std::nullopt;
  const Analysis& analysis = AnalysisOf(*document);
  if (analysis.root() == FileId::kNone) return std::nullopt;
  return Query{*document, analysis, ByteOf(analysis.sources().text(analysis.root()), ReadPosition(params.getObject("position")))};
}

}  // namespace wf::lsp
