// What is wrong, as the editor shows it.

#include <fmt/format.h>

#include "compiler/lsp/requests.h"
#include "compiler/lsp/uri.h"

namespace wf::lsp {
namespace {

// What has no place is shown where the file begins.
Span Placed(const Span& span, FileId root) { return span.file == FileId::kNone ? Span{root, 0, 0} : span; }

std::string FullMessage(const diag::Diagnostic& diagnostic) {
  std::string text = diagnostic.message;
  if (!diagnostic.span_label.empty()) text += "\n" + diagnostic.span_label;
  for (const std::string& help : diagnostic.help) text += "\nhelp: " + help;
  return text;
}

}  // namespace

json::Value DiagnosticJson(const diag::Diagnostic& diagnostic, const Analysis& analysis, const Host& host) {
  const std::string code = fmt::format("WF{:04}", static_cast<int>(diagnostic.code));
  json::Object object{{"range", RangeOf(analysis.sources(), Placed(diagnostic.span, analysis.root()))},
                      {"severity", diagnostic.severity == diag::Severity::kError ? 1 : 2},
                      {"code", code},
                      {"source", "wfc"},
                      {"message", json::fixUTF8(FullMessage(diagnostic))}};
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
  std::map<std::string, json::Array> by_uri;
  by_uri[document.uri];
  for (const std::string& uri : document.reported) {
    if (workspace.Find(uri) == nullptr) by_uri[uri];  // what was reported there is told to be over
  }
  if (analysis.root() != FileId::kNone) {
    for (const diag::Diagnostic& diagnostic : analysis.diagnostics().Sorted()) {
      const FileId file = Placed(diagnostic.span, analysis.root()).file;
      const std::string uri = file == analysis.root() ? document.uri : UriOf(analysis.sources().name(file));
      const bool elsewhere = uri != document.uri && workspace.Find(uri) != nullptr;  // it says so itself
      if (!elsewhere) by_uri[uri].push_back(DiagnosticJson(diagnostic, analysis, workspace.host()));
    }
  }
  std::vector<json::Value> messages;
  document.reported.clear();
  for (auto& [uri, diagnostics] : by_uri) {
    if (!diagnostics.empty()) document.reported.insert(uri);
    json::Object params{{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
    if (uri == document.uri) params["version"] = document.version;
    messages.emplace_back(std::move(params));
  }
  document.to_publish = false;
  return messages;
}

}  // namespace wf::lsp
