#pragma once

#include <llvm/Support/JSON.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/lsp/analysis.h"
#include "compiler/lsp/closed_files.h"
#include "compiler/lsp/place.h"
#include "compiler/sema/folded.h"

namespace wf::lsp {

struct Document {
  std::string uri, path, text;
  std::string folder;  // from which its imports count, with its slash
  int64_t version = 0;
  std::unique_ptr<Analysis> analysis;                     // null: stale
  std::unique_ptr<Analysis> last_sound;                   // one that parsed whole, where the present one does not
  std::map<std::string, std::vector<json::Value>> found;  // diagnostics of this document, by the URI that they stand in
  bool to_publish = true;
  std::optional<int64_t> told_version;  // of which diagnostics were published
};

// What a request asks about.
struct Query {
  const Document& document;
  const Analysis& analysis;
  uint32_t byte = 0;
  FileId file() const { return analysis.root(); }
  std::string_view text() const { return analysis.sources().text(analysis.root()); }
};

// What editors have open, and what is known of it.
// Owns: documents and their analyses.   Cost: an analysis is made when it is asked for, once per change.
class Workspace {
 public:
  explicit Workspace(Host host) : host_(std::move(host)) {}

  void Open(const std::string& uri, std::string text, int64_t version);
  void Change(const std::string& uri, std::string text, int64_t version);
  void Close(const std::string& uri);
  void ForgetFiles();  // something changed on disk

  Document* Find(const std::string& uri);
  const Document* OpenAt(const std::string& path) const;
  std::map<std::string, Document>& documents() { return documents_; }
  const Analysis& AnalysisOf(Document& document);
  std::shared_ptr<const Analysis> AnalysisOfFile(const std::string& path);                          // one that is not open
  std::unique_ptr<Analysis> AnalysisWith(const Document& document, const std::string& text) const;  // in the place of its own
  // A program with other texts than those that are open.
  std::unique_ptr<Analysis> Try(const Root& root, const std::map<std::string, std::string>& texts_by_path) const;
  const Host& host() const { return host_; }
  void FreeStale() { stale_.clear(); }  // analyses that nobody asks for any more: a third of the time that one takes

  void AddFolder(const std::string& uri);
  void RemoveFolder(const std::string& uri);
  const std::set<std::string>& folders() const { return folders_; }  // paths

  // What the editor knows: parameters as places in a signature, edits that name the version of the text that they are of.
  bool knows_label_offsets = false, knows_versioned_edits = false;
  std::string UriOfFile(const std::string& path) const;                        // as the editor that has it open writes it
  json::Value EditOf(std::map<std::string, json::Array> edits_by_path) const;  // as the editor knows it

  Document* DocumentIn(const json::Object& params);  // that `textDocument` names; null: none that is open
  // Of the parameters `textDocument` and `position`; nothing when they name nothing that is open.
  std::optional<Query> Read(const json::Object& params);

 private:
  using Texts = std::map<std::string, std::string>;  // by path
  std::unique_ptr<Analysis> Analyse(const std::string& path, const std::string& folder, const Texts& texts_by_path = {}) const;
  std::string FolderFor(const Analysis& analysis) const;
  bool IsInside(const std::string& folder) const;  // of a folder of the workspace
  void Forget(const std::string& path);
  const std::string* OpenText(const std::string& path) const;

  const Host host_;
  std::map<std::string, Document> documents_;  // by URI
  std::set<std::string> folders_;
  std::vector<std::unique_ptr<Analysis>> stale_;
  ClosedFiles closed_files_;
  mutable sema::Folded folded_;  // of all programs
};

}  // namespace wf::lsp
