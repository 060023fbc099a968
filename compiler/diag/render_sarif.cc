#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "compiler/base/percent.h"
#include "compiler/base/utf8.h"
#include "compiler/diag/render.h"
#include "runtime/base/json_text.h"

namespace wf::diag {
namespace {

using source::SourceMap;
using source::Span;

// Positions with columns counted in characters. Of each line it is remembered where every 512th begins.
class Places {
 public:
  explicit Places(const SourceMap& sources) : sources_(sources) {}

  std::string_view name(source::FileId file) const { return sources_.name(file); }

  source::Position Of(source::FileId file, uint32_t byte) {
    source::Position position = sources_.PositionOf(file, byte);
    const std::string_view text = sources_.text(file);
    std::vector<uint32_t>& marks = marks_[{file, position.line}];
    if (marks.empty()) marks.push_back(byte - (position.column - 1));
    const auto mark = std::upper_bound(marks.begin(), marks.end(), byte) - 1;
    uint32_t at = *mark, count = static_cast<uint32_t>(mark - marks.begin()) * kStretch;
    while (at < byte) {
      at += static_cast<uint32_t>(source::DecodeUtf8(text.substr(at)).length);
      if (++count == kStretch * marks.size()) marks.push_back(at);
    }
    position.column = count + 1;
    return position;
  }

 private:
  static constexpr uint32_t kStretch = 512;
  const SourceMap& sources_;
  std::map<std::pair<source::FileId, uint32_t>, std::vector<uint32_t>> marks_;  // by file and line
};

// A path as a reference relative to where wfc ran, or absolute.
std::string Uri(std::string_view path) { return (path.starts_with('/') ? "file://" : "") + source::PercentEncoded(path); }

constexpr std::string_view kFromFolder = R"(,"uriBaseId":"FOLDER")";

std::string Artifact(const Span& span, const Places& places) {
  const std::string_view name = places.name(span.file);
  return fmt::format(R"("artifactLocation":{{"uri":{}{}}})", base::QuoteJson(Uri(name)), name.starts_with('/') ? "" : kFromFolder);
}

std::string Region(const Span& span, Places& places) {
  const source::Position begin = places.Of(span.file, span.begin), end = places.Of(span.file, span.end);
  return fmt::format(R"({{"startLine":{},"startColumn":{},"endLine":{},"endColumn":{}}})", begin.line, begin.column, end.line, end.column);
}

std::string Location(const Span& span, Places& places) {
  return fmt::format(R"("physicalLocation":{{{},"region":{}}})", Artifact(span, places), Region(span, places));
}

std::string Related(const std::vector<Label>& labels, Places& places) {
  std::string related;
  for (const Label& label : labels) {
    related += fmt::format(R"({}{{{},"message":{{"text":{}}}}})", related.empty() ? "" : ",", Location(label.span, places),
                           base::QuoteJson(label.text));
  }
  return related.empty() ? "" : fmt::format(R"(,"relatedLocations":[{}])", related);
}

std::string Fixes(const std::vector<Edit>& fixes, Places& places) {
  std::string changes;
  for (const Edit& fix : fixes) {
    changes +=
        fmt::format(R"({}{{{},"replacements":[{{"deletedRegion":{},"insertedContent":{{"text":{}}}}}]}})", changes.empty() ? "" : ",",
                    Artifact(fix.span, places), Region(fix.span, places), base::QuoteJson(fix.replacement));
  }
  return changes.empty() ? "" : fmt::format(R"(,"fixes":[{{"artifactChanges":[{}]}}])", changes);
}

std::string Result(const Diagnostic& diagnostic, Places& places) {
  const bool placed = diagnostic.span.file != source::FileId::kNone;
  return fmt::format(R"({{"ruleId":"{}","level":"{}","message":{{"text":{}}},"locations":[{}]{}{}}})", CodeName(diagnostic.code),
                     SeverityName(diagnostic.severity), base::QuoteJson(FullMessage(diagnostic)),
                     placed ? "{" + Location(diagnostic.span, places) + "}" : "", Related(diagnostic.labels, places),
                     Fixes(diagnostic.fixes, places));
}

}  // namespace

void SarifLog::Add(const Emitter& emitter, const SourceMap& sources) {
  Places places(sources);
  for (const Diagnostic& diagnostic : emitter.Sorted()) {
    const std::string result = Result(diagnostic, places);
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
