// Formatting, and fixes that are certain.

#include "compiler/diag/edits.h"
#include "compiler/format/format.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/uri.h"
#include "compiler/parse/parse.h"

namespace wf::lsp {
namespace {

json::Array EditsOf(const diag::Diagnostic& diagnostic, const Analysis& analysis) {
  json::Array edits;
  for (const diag::Edit& edit : diag::Apart(diagnostic.fixes)) {
    edits.push_back(
        TextEdit(analysis.sources(), diag::Removed(analysis.sources().text(edit.span.file), edit), json::fixUTF8(edit.replacement)));
  }
  return edits;
}

std::string TitleOf(const diag::Diagnostic& diagnostic, const source::SourceMap& sources) {
  if (diagnostic.fixes.size() > 1) return "fix: " + diagnostic.message;
  const diag::Edit& edit = diagnostic.fixes.front();
  const std::string removed(sources.Text(edit.span)), added = edit.replacement;
  if (added.empty()) return "remove `" + removed + "`";
  return removed.empty() ? "insert `" + added + "`" : "change `" + removed + "` to `" + added + "`";
}

}  // namespace

Answer CodeActions(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query) return nullptr;
  const Analysis& analysis = query->analysis;
  const json::Object* range = params.getObject("range");
  if (range == nullptr) return nullptr;
  const uint32_t begin = ByteOf(query->text(), ReadPosition(range->getObject("start")));
  const uint32_t end = ByteOf(query->text(), ReadPosition(range->getObject("end")));
  json::Array actions;
  for (const diag::Diagnostic& diagnostic : analysis.diagnostics().Sorted()) {
    const Span& span = diagnostic.span;
    if (diagnostic.fixes.empty() || span.file != query->file() || span.end < begin || span.begin > end) continue;
    std::map<std::string, json::Array> edits;
    edits[query->document.path] = EditsOf(diagnostic, analysis);
    actions.push_back(json::Object{{"title", json::fixUTF8(TitleOf(diagnostic, analysis.sources()))},
                                   {"kind", "quickfix"},
                                   {"isPreferred", true},
                                   {"diagnostics", json::Array{DiagnosticJson(diagnostic, analysis, workspace.host())}},
                                   {"edit", workspace.EditOf(std::move(edits))}});
  }
  return actions;
}

Answer Formatting(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  if (!query) return nullptr;
  source::SourceMap sources;
  diag::Emitter emitter;
  const FileId file = sources.Add(query->document.path, query->document.text);
  const auto tree = parse::Parse(file, sources, emitter, parse::Role::kText);
  if (!tree || emitter.has_errors()) return nullptr;
  std::string formatted = format::Format(*tree, sources);
  if (formatted == query->document.text) return json::Array{};
  const Span whole{file, 0, static_cast<uint32_t>(query->document.text.size())};
  return json::Array{TextEdit(sources, whole, std::move(formatted))};
}

}  // namespace wf::lsp
