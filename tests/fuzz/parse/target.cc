#include <cstdint>
#include <string>

#include "compiler/ast/printer.h"
#include "compiler/diag/render.h"
#include "compiler/parse/parse.h"
#include "runtime/base/check.h"

namespace {

void CheckPlace(const wf::source::Span& span, size_t size) {
  WF_CHECK(span.begin <= span.end && span.end <= size, span.begin, span.end, size);
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 1 << 16;  // the printer's output grows with the square of nesting
  if (size > kMaxBytes) return 0;
  wf::source::SourceMap sources;
  wf::diag::Emitter emitter;
  const auto id = sources.Add("fuzz.wf", std::string(reinterpret_cast<const char*>(data), size));
  const auto file = wf::parse::Parse(id, sources, emitter);
  WF_CHECK(file.has_value() || emitter.has_errors());
  if (file) wf::ast::Print(*file, sources);
  for (const auto& diagnostic : emitter.Sorted()) {
    CheckPlace(diagnostic.span, size);
    for (const auto& label : diagnostic.labels) CheckPlace(label.span, size);
    wf::diag::RenderText(diagnostic, sources, wf::diag::Color::kAlways);
    wf::diag::RenderJson(diagnostic, sources);
  }
  return 0;
}
