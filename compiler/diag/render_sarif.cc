#include <fmt/format.h>

#include <algorithm>

#include "compiler/base/utf8.h"
#include "compiler/diag/render.h"

namespace wf::diag {
namespace {

using source::SourceMap;
using source::Span;

// The position with its column counted in characters.
source::Position CharacterPosition(const SourceMap& sources, source::FileId file, uint32_t byte) {
  source::Position position = sources.PositionOf(file, byte);
  std::string_view before = sources.Line(file, position.line).substr(0, position.column - 1);
  for (position.column = 1; !before.empty(); ++position.column) before.remove_prefix(source::DecodeUtf8(before).length);
  return position;
}

// A path as a reference relative to where wfc ran, or absolute.
std::string Uri(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

std::string Artifact(const Span& span, const SourceMap& sources) {
  return fmt::format(R"("artifactLocation":{{"uri":{}}})", QuoteJson(Uri(sources.name(span.file))));
}

std::string Region(const Span& span, const SourceMap& sources) {
  const source::Position begin = CharacterPosition(sources, span.file, span.begin), end = CharacterPosition(sources, span.file, span.end);
  return fmt::format(R"({{"startLine":{},"startColumn":{},"endLine":{},"endColumn":{}}})", begin.line, begin.column, end.line, end.column);
}

std::string Location(const Span& span, const SourceMap& sources) {
  return fmt::format(R"("physicalLocation":{{{},"region":{}}})", Artifact(span, sources), Region(span, sources));
}

std::string Related(const std::vector<Label>& labels, const SourceMap& sources) {
  std::string related;
  for (const Label& label : labels) {
    related += fmt::format(R"({}{{{},"message":{{"text":{}}}}})", related.empty() ? "" : ",", Location(label.span, sources),
                           QuoteJson(label.text));
  }
  return related.empty() ? "" : fmt::format(R"(,"relatedLocations":[{}])", related);
}

std::string Fixes(const std::vector<Edit>& fixes, const SourceMap& sources) {
  std::string changes;
  for (const Edit& fix : fixes) {
    changes += fmt::format(R"({}{{{},"replacements":[{{"deletedRegion":{},"insertedContent":{{"text":{}}}}}]}})",
                           changes.empty() ? "" : ",", Artifact(fix.span, sources), Region(fix.span, sources), QuoteJson(fix.replacement));
  }
  return changes.empty() ? "" : fmt::format(R"(,"fixes":[{{"artifactChanges":[{}]}}])", changes);
}

std::string Result(const Diagnostic& diagnostic, const SourceMap& sources) {
  std::string text = diagnostic.message;
  for (const std::string& help : diagnostic.help) text += "\n" + help;
  const bool placed = diagnostic.span.file != source::FileId::kNone;
  return fmt::format(R"({{"ruleId":"{}","level":"{}","message":{{"text":{}}},"locations":[{}]{}{}}})", CodeName(diagnostic.code),
                     SeverityName(diagnostic.severity), QuoteJson(text), placed ? "{" + Location(diagnostic.span, sources) + "}" : "",
                     Related(diagnostic.labels, sources), Fixes(diagnostic.fixes, sources));
}

}  // namespace

void SarifLog::Add(const Emitter& emitter, const SourceMap& sources) {
  for (const Diagnostic& diagnostic : emitter.Sorted()) {
    results_ += (results_.empty() ? "\n" : ",\n") + Result(diagnostic, sources);
    const auto place = std::lower_bound(codes_.begin(), codes_.end(), diagnostic.code);
    if (place == codes_.end() || *place != diagnostic.code) codes_.insert(place, diagnostic.code);
  }
}

std::string SarifLog::Finish(std::string_view version) const {
  std::string rules;
  for (const Code code : codes_) {
    rules += fmt::format(R"({}{{"id":"{}","shortDescription":{{"text":{}}},"help":{{"text":"wfc explain {}"}}}})",
                         rules.empty() ? "\n" : ",\n", CodeName(code), QuoteJson(InfoOf(code).message), CodeName(code));
  }
  return fmt::format(
      "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\n"
      "\"tool\":{{\"driver\":{{\"name\":\"wfc\",\"semanticVersion\":{},\"rules\":[{}]}}}},\n"
      "\"columnKind\":\"unicodeCodePoints\",\n\"results\":[{}]}}]}}\n",
      QuoteJson(version), rules, results_);
}

}  // namespace wf::diag
