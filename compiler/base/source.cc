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
  const size_t end = std::min(text.find_first_of("\r\n", from), text.size());
  const size_t length = end == text.size() ? 0 : text.substr(end).starts_with("\r\n") ? 2 : 1;
  return {end, end + length};
}

FileId SourceMap::Add(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {}};
  file.line_begins.push_back(static_cast<uint32_t>(ByteOrderMarkLength(file.text)));  // which is no column
  for (LineEnd line = EndOfLine(file.text, 0); line.next > line.end; line = EndOfLine(file.text, line.next)) {
    file.line_begins.push_back(static_cast<uint32_t>(line.next));
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
