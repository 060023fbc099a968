#include <fmt/format.h>

#include "compiler/base/utf8.h"
#include "compiler/diag/render.h"
#include "runtime/base/json_text.h"

namespace wf::diag {
namespace {

using source::Span;

// The members that say where a span is. Columns are those of the text, in characters.
std::string PlaceOf(const Span& span, const source::SourceMap& sources) {
  if (span.file == source::FileId::kNone) return R"("file":null)";
  const source::Position begin = sources.ShownPosition(span.file, span.begin);
  const source::Position end = sources.ShownPosition(span.file, span.end);
  return fmt::format(R"("file":{},"line":{},"column":{},"end_line":{},"end_column":{},"byte":{},"end_byte":{})",
                     base::QuoteJson(sources.name(span.file)), begin.line, begin.column, end.line, end.column, span.begin, span.end);
}

std::string SpanJson(const Span& span, bool primary, std::string_view label, const source::SourceMap& sources) {
  return fmt::format(R"({{{},"primary":{},"label":{}}})", PlaceOf(span, sources), primary, base::QuoteJson(label));
}

}  // namespace

std::string RenderJson(const Diagnostic& diagnostic, const source::SourceMap& sources) {
  std::string spans, help, fixes;
  if (diagnostic.span.file != source::FileId::kNone) spans = SpanJson(diagnostic.span, true, diagnostic.span_label, sources);
  for (const Label& label : diagnostic.labels) spans += (spans.empty() ? "" : ",") + SpanJson(label.span, false, label.text, sources);
  for (const std::string& one : diagnostic.help) help += (help.empty() ? "" : ",") + base::QuoteJson(one);
  for (const Edit& fix : diagnostic.fixes) {
    fixes +=
        fmt::format(R"({}{{{},"replacement":{}}})", fixes.empty() ? "" : ",", PlaceOf(fix.span, sources), base::QuoteJson(fix.replacement));
  }
  return fmt::format(
      R"({{"code":"{}","severity":"{}","message":{},"column_unit":"characters","spans":[{}],"help":[{}],"fixes":[{}],"rendered":{}}})"
      "\n",
      CodeName(diagnostic.code), SeverityName(diagnostic.severity), base::QuoteJson(diagnostic.message), spans, help, fixes,
      base::QuoteJson(RenderText(diagnostic, sources, Color::kNever)));
}

}  // namespace wf::diag
