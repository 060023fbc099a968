// What is wrong, as the editor shows it.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/diag/render.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/uri.h"

namespace wf::lsp {
namespace {

// What has no place is shown where the file begins.
Span Placed(const Span& span, FileId root) { return span.file == FileId::kNone ? Span{root, 0, 0} : span; }

using Found = std::map<std::string, std::vector<json::Value>>;

// What is the same for whoever looks at the file.
bool SaysTheSame(const json::Value& a, const json::Value& b) {
  const json::Object &one = *a.getAsObject(), &other = *b.getAsObject();
  return *one.get("code") == *other.get("code") && *one.get("range") == *other.get("range");
}

// All that is wrong in a file: what it finds itself comes first, then what other documents, which read it, find there.
json::Value Message(Workspace& workspace, const std::string& uri) {
  std::vector<const Document*> sources;
  const Document* own = workspace.Find(uri);
  if (own != nullptr) sources.push_back(own);
  for (const auto& [other, document] : workspace.documents()) {
    if (&document != own) sources.push_back(&document);
  }
  std::vector<json::Value> diagnostics;
  for (const Document* document : sources) {
    const auto found = document->found.find(uri);
    if (found == document->found.end()) continue;
    const size_t others = diagnostics.size();
    for (const json::Value& one : found->second) {
      const auto end = diagnostics.begin() + static_cast<std::ptrdiff_t>(others);
      if (std::none_of(diagnostics.begin(), end, [&](const json::Value& known) { return SaysTheSame(known, one); }))
        diagnostics.push_back(one);
    }
  }
  json::Object params{{"uri", uri}, {"diagnostics", json::Array(diagnostics)}};
  if (own != nullptr) params["version"] = own->version;
  return params;
}

// Where the one has other diagnostics than the other.
std::set<std::string> OtherThan(const Found& before, const Found& after) {
  std::set<std::string> uris;
  for (const auto& [a, b] : {std::pair(&before, &after), std::pair(&after, &before)}) {
    for (const auto& [uri, diagnostics] : *a) {
      const auto other = b->find(uri);
      if (other == b->end() || other->second != diagnostics) uris.insert(uri);
    }
  }
  return uris;
}

}  // namespace

json::Value DiagnosticJson(const diag::Diagnostic& diagnostic, const Analysis& analysis, const Host& host) {
  const std::string code = fmt::format("WF{:04}", static_cast<int>(diagnostic.code));
  json::Object object{{"range", RangeOf(analysis.sources(), Placed(diagnostic.span, analysis.root()))},
                      {"severity", diagnostic.severity == diag::Severity::kError ? 1 : 2},
                      {"code", code},
                      {"source", "wfc"},
                      {"message", json::fixUTF8(diag::FullMessage(diagnostic))}};
  if (!host.error_pages.empty()) object["codeDescription"] = json::Object{{"href", UriOf(host.error_pages + code + ".md")}};
  json::Array related;
  for (const diag::Label& label : diagnostic.labels) {
    if (label.span.file == FileId::kNone) continue;
    related.push_back(json::Object{{"location", LocationOf(analysis.sources(), label.span)}, {"message", json::fixUTF8(label.text)}});
  }
  if (!related.empty()) object["relatedInformation"] = std::move(related);
  if (diagnostic.code == diag::kUnused) object["tags"] = json::Array{1};
  return object;
}

std::vector<json::Value> Diagnostics(Workspace& workspace, Document& document) {
  const Analysis& analysis = workspace.AnalysisOf(document);
  const Found before = std::move(document.found);
  document.found.clear();
  document.to_publish = false;
  if (analysis.root() != FileId::kNone) {
    for (const diag::Diagnostic& diagnostic : analysis.diagnostics().Sorted()) {
      const FileId file = Placed(diagnostic.span, analysis.root()).file;
      const std::string uri = file == analysis.root() ? document.uri : workspace.UriOfFile(std::string(analysis.sources().name(file)));
      document.found[uri].push_back(DiagnosticJson(diagnostic, analysis, workspace.host()));
    }
  }
  const std::set<std::string> others = OtherThan(before, document.found);
  std::vector<json::Value> messages;
  if (document.told_version != document.version || others.contains(document.uri)) messages.push_back(Message(workspace, document.uri));
  document.told_version = document.version;
  for (const std::string& uri : others) {
    if (uri == document.uri) continue;
    Document* open = workspace.Find(uri);
    if (open != nullptr && open->to_publish) {
      open->told_version.reset();  // its turn comes, and says this, too
    } else {
      messages.push_back(Message(workspace, uri));
    }
  }
  return messages;
}

std::vector<json::Value> CloseDocument(Workspace& workspace, const std::string& uri) {
  Document* document = workspace.Find(uri);
  if (document == nullptr) return {};
  const Found before = std::move(document->found);
  workspace.Close(uri);
  std::vector<json::Value> messages;
  for (const auto& [other, diagnostics] : before) messages.push_back(Message(workspace, other));
  return messages;
}

}  // namespace wf::lsp
