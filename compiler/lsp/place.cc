#include "compiler/lsp/place.h"

#include <algorithm>

#include "compiler/base/utf8.h"
#include "compiler/lsp/uri.h"

namespace wf::lsp {
namespace {

json::Value ToJson(Position position) { return json::Object{{"line", position.line}, {"character", position.character}}; }

uint32_t ReadUnsigned(const json::Object& object, llvm::StringRef key) {
  const auto value = object.getInteger(key);
  return value ? static_cast<uint32_t>(std::clamp<int64_t>(*value, 0, UINT32_MAX)) : 0;
}

}  // namespace

Position ReadPosition(const json::Object* position) {
  if (position == nullptr) return {};
  return {ReadUnsigned(*position, "line"), ReadUnsigned(*position, "character")};
}

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

uint32_t ByteOf(std::string_view text, Position position) {
  size_t begin = 0;
  for (uint32_t line = 0; line < position.line; ++line) {
    const source::LineEnd end = source::EndOfLine(text, begin);
    if (end.next == end.end) return static_cast<uint32_t>(text.size());
    begin = end.next;
  }
  const std::string_view line = text.substr(begin, source::EndOfLine(text, begin).end - begin);
  uint32_t units = 0;
  size_t byte = 0;
  while (byte < line.size() && units < position.character) {
    const source::CodePoint next = source::DecodeUtf8(line.substr(byte));
    units += next.value > 0xFFFF ? 2 : 1;
    byte += static_cast<size_t>(next.length);
  }
  return static_cast<uint32_t>(begin + byte);
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
