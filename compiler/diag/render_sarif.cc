#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/base/percent.h"
#include "compiler/diag/render.h"
#include "runtime/base/json_text.h"

namespace wf::diag {
namespace {

using source::SourceMap;
using source::Span;

// A path as a reference relative to where wfc ran, or absolute.
std::string Uri(std::string_view path) { return (path.starts_with('/') ? "file://" : "") + source::PercentEncoded(path); }

constexpr std::string_view kFromFolder = R"(,"uriBaseId":"FOLDER")";

std::string Artifact(const Span& span, const SourceMap& sources) {
  const std::string_view name = sources.name(span.file);
  return fmt::format(R"("artifactLocation":{{"uri":{}{}}})", base::QuoteJson(Uri(name)), name.starts_with('/') ? "" : kFromFolder);
}

std::string Region(const Span& span, const SourceMap& sources) {
  const source::Position begin = sources.ShownPosition(span.file, span.begin), end = sources.ShownPosition(span.file, span.end);
  return fmt::format(R"({{"startLine":{},"startColumn":{},"endLine":{},"endColumn":{}}})", begin.line, begin.column, end.line, end.column);
}

std::string Location(const Span& span, const SourceMap& sources) {
  return fmt::format(R"("physicalLocation":{{{},"region":{}}})", Artifact(span, sources), Region(span, sources));
}

std::string Related(const std::vector<Label>& labels, const SourceMap& sources) {
  std::string related;
  for (const Label& label : labels) {
    related += fmt::format(R"({}{{{},"message":{{"text":{}}}}})", related.empty() ? "" : ",", Location(label.span, sources),
                           base::QuoteJson(label.text));
  }
  return related.empty() ? "" : fmt::format(R"(,"relatedLocations":[{}])", related);
}

std::string Fixes(const std::vector<Edit>& fixes, const SourceMap& sources) {
  std::string changes;
  for (const Edit& fix : fixes) {
    changes +=
        fmt::format(R"({}{{{},"replacements":[{{"deletedRegion":{},"insertedContent":{{"text":{}}}}}]}})", changes.empty() ? "" : ",",
                    Artifact(fix.span, sources), Region(fix.span, sources), base::QuoteJson(fix.replacement));
  }
  return changes.empty() ? "" : fmt::format(R"(,"fixes":[{{"artifactChanges":[{}]}}])", changes);
}

std::string Result(const Diagnostic& diagnostic, const SourceMap& sources) {
  const bool placed = diagnostic.span.file != source::FileId::kNone;
  return fmt::format(R"({{"ruleId":"{}","level":"{}","message":{{"text":{}}},"locations":[{}]{}{}}})", CodeName(diagnostic.code),
                     SeverityName(diagnostic.severity), base::QuoteJson(FullMessage(diagnostic)),
                     placed ? "{" + Location(diagnostic.span, sources) + "}" : "", Related(diagnostic.labels, sources),
                     Fixes(diagnostic.fixes, sources));
}

}  // namespace

void SarifLog::Add(const Emitter& emitter, const SourceMap& sources) {
  for (const Diagnostic& diagnostic : emitter.Sorted()) {
    const std::string result = Result(diagnostic, sources);
    if (!known_.insert(result).second) continue;
    results_ += (results_.empty() ? "\n" : ",\n") + result;
    const auto place = std::lower_bound(codes_.begin(), codes_.end(), diagnostic.code);
    if (place == codes_.end() || *place != diagnostic.code) codes_.insert(place, diagnostic.code);
  }
}

std::string SarifLog::Finish(const Surroundings& around) const {
  std::string rules;
  for (const Code code : codes_) {
    rules += fmt::format(R"({}{{"id":"{}","name":"{}","shortDescription":{{"text":{}}},"help":{{"text":"wfc explain {}","markdown":{}}}}})",
                         rules.empty() ? "\n" : ",\n", CodeName(code), InfoOf(code).name.substr(1),
                         base::QuoteJson(AnyMessage(InfoOf(code))), CodeName(code), base::QuoteJson(around.page_of(code)));
  }
  const std::string folder = around.folder.empty() ? "" : Uri(around.folder) + (around.folder.ends_with('/') ? "" : "/");
  const std::string bases =
      folder.empty() ? "" : fmt::format(R"("originalUriBaseIds":{{"FOLDER":{{"uri":{}}}}},)", base::QuoteJson(folder)) + "\n";
  return fmt::format(
      "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\n"
      "\"tool\":{{\"driver\":{{\"name\":\"wfc\",\"semanticVersion\":{},\"rules\":[{}]}}}},\n"
      "{}\"columnKind\":\"unicodeCodePoints\",\n\"results\":[{}]}}]}}\n",
      base::QuoteJson(around.version), rules, bases, results_);
}

}  // namespace wf::diag
