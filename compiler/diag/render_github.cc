#include <fmt/format.h>

#include "compiler/diag/render.h"

namespace wf::diag {
namespace {

// What a command's text or property must not hold is written as %XX.
std::string Escaped(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    escaped += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return escaped;
}

}  // namespace

std::string RenderGithub(const Diagnostic& diagnostic, const source::SourceMap& sources) {
  std::string place;
  if (diagnostic.span.file != source::FileId::kNone) {
    const source::Position begin = sources.ShownPosition(diagnostic.span.file, diagnostic.span.begin);
    const source::Position end = sources.ShownPosition(diagnostic.span.file, diagnostic.span.end);
    place = fmt::format("file={},line={},endLine={},", Escaped(sources.name(diagnostic.span.file), true), begin.line, end.line);
    if (begin.line == end.line) place += fmt::format("col={},endColumn={},", begin.column, end.column);
  }
  return fmt::format("::{} {}title={}::{}\n", SeverityName(diagnostic.severity), place, CodeName(diagnostic.code),
                     Escaped(FullMessage(diagnostic), false));
}

std::string RenderGithubNotice(std::string_view text) { return "::notice::" + Escaped(text, false) + "\n"; }

}  // namespace wf::diag
