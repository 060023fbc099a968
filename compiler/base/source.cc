#include "compiler/base/source.h"

#include <algorithm>

#include "compiler/base/utf8.h"
#include "runtime/base/check.h"

namespace wf::source {

Span Join(const Span& first, const Span& last) {
  WF_CHECK(first.file == last.file);
  return {first.file, first.begin, std::max(first.end, last.end)};
}

LineEnd EndOfLine(std::string_view text, size_t from) {
  size_t end = from;  // by hand: find_first_of calls a function for each byte, and every file is read several times
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
  const size_t length = end == text.size() ? 0 : text.substr(end).starts_with("\r\n") ? 2 : 1;
  return {end, end + length};
}

FileId SourceMap::Add(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {}, {}};
  file.line_begins.push_back(static_cast<uint32_t>(ByteOrderMarkLength(file.text)));  // which is no column
  for (LineEnd line = EndOfLine(file.text, 0); line.next > line.end; line = EndOfLine(file.text, line.next)) {
    file.line_begins.push_back(static_cast<uint32_t>(line.next));
  }
  uint32_t characters = 0;
  for (uint32_t at = 0; at < file.text.size(); ++at) {
    if (at % kStretch == 0) file.characters.push_back(characters);
    if (!IsContinuation(file.text[at])) ++characters;
  }
  files_.push_back(std::move(file));
  return static_cast<FileId>(files_.size() - 1);
}

std::string_view SourceMap::Text(const Span& span) const { return text(span.file).substr(span.begin, span.end - span.begin); }

Position SourceMap::PositionOf(FileId file, uint32_t byte) const {
  const auto& begins = files_[static_cast<size_t>(file)].line_begins;
  byte = std::max(byte, begins.front());
  const auto after = std::upper_bound(begins.begin(), begins.end(), byte);
  const auto line = static_cast<uint32_t>(after - begins.begin());
  return {line, byte - begins[line - 1] + 1};
}

uint32_t SourceMap::CharactersBefore(FileId file, uint32_t byte) const {
  const File& source = files_[static_cast<size_t>(file)];
  if (source.characters.empty()) return 0;
  const auto stretch = std::min<size_t>(byte / kStretch, source.characters.size() - 1);
  uint32_t count = source.characters[stretch];
  for (size_t at = stretch * kStretch; at < byte; ++at) count += IsContinuation(source.text[at]) ? 0 : 1;
  return count;
}

Position SourceMap::ShownPosition(FileId file, uint32_t byte) const {
  const Position position = PositionOf(file, byte);
  const uint32_t begin = files_[static_cast<size_t>(file)].line_begins[position.line - 1];
  if (byte <= begin) return position;
  return {position.line, CharactersBefore(file, byte) - CharactersBefore(file, begin) + 1};
}

std::string_view SourceMap::Line(FileId file, uint32_t line) const {
  const File& source = files_[static_cast<size_t>(file)];
  WF_CHECK(line >= 1 && line <= source.line_begins.size(), line);
  const bool is_last = line == source.line_begins.size();
  const size_t begin = source.line_begins[line - 1], next = is_last ? source.text.size() : source.line_begins[line];
  std::string_view one = std::string_view(source.text).substr(begin, next - begin);
  if (!is_last) one.remove_suffix(one.ends_with("\r\n") ? 2 : 1);
  return one;
}

}  // namespace wf::source
