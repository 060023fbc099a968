#include "compiler/lsp/place.h"

#include <algorithm>

#include "compiler/base/utf8.h"
#include "compiler/lsp/uri.h"

namespace wf::lsp {
namespace {

json::Value ToJson(Position position) { return json::Object{{"line", position.line}, {"character", position.character}}; }

uint32_t LineCount(const source::SourceMap& sources, FileId file) {
  return sources.PositionOf(file, static_cast<uint32_t>(sources.text(file).size())).line;
}

}  // namespace

uint32_t Utf16Length(std::string_view text) {
  uint32_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;  // what follows a first byte counts nothing
  }
  return units;
}

Position PositionOf(const source::SourceMap& sources, FileId file, uint32_t byte) {
  const std::string_view text = sources.text(file);
  const source::Position at = sources.PositionOf(file, std::min(byte, static_cast<uint32_t>(text.size())));
  return {at.line - 1, Utf16Length(sources.Line(file, at.line).substr(0, at.column - 1))};
}

uint32_t ByteOf(const source::SourceMap& sources, FileId file, Position position) {
  const std::string_view text = sources.text(file);
  if (position.line >= LineCount(sources, file)) return static_cast<uint32_t>(text.size());
  const std::string_view line = sources.Line(file, position.line + 1);
  const auto begin = static_cast<uint32_t>(line.data() - text.data());
  uint32_t units = 0, byte = 0;
  while (byte < line.size() && units < position.character) {
    const source::CodePoint next = source::DecodeUtf8(line.substr(byte));
    units += next.value > 0xFFFF ? 2 : 1;
    byte += static_cast<uint32_t>(next.length);
  }
  return begin + byte;
}

json::Value RangeOf(const source::SourceMap& sources, const Span& span) {
  return json::Object{{"start", ToJson(PositionOf(sources, span.file, span.begin))},
                      {"end", ToJson(PositionOf(sources, span.file, span.end))}};
}

json::Value LocationOf(const source::SourceMap& sources, const Span& span) {
  return json::Object{{"uri", UriOf(sources.name(span.file))}, {"range", RangeOf(sources, span)}};
}

json::Value TextEdit(const source::SourceMap& sources, const Span& span, std::string text) {
  return json::Object{{"range", RangeOf(sources, span)}, {"newText", std::move(text)}};
}

}  // namespace wf::lsp
