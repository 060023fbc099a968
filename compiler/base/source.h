#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace wf::source {

enum class FileId : uint32_t { kNone = 0xffffffff };

// Half-open range of bytes in one file.
struct Span {
  FileId file = FileId::kNone;
  uint32_t begin = 0, end = 0;

  bool empty() const { return begin == end; }
  friend bool operator==(const Span&, const Span&) = default;
};
Span Join(const Span& first, const Span& last);  // from the start of `first` to the end of `last`; same file

// Of the line that holds the byte `from`: where it ends, and where the next one begins. A line ends in "\n", "\r\n" or, as editors count, a
// "\r" that stands alone; the last one with the text.
struct LineEnd {
  size_t end, next;
};
LineEnd EndOfLine(std::string_view text, size_t from);

struct Position {
  uint32_t line = 1, column = 1;
};  // both from 1

// The texts of one compilation, and their names as users wrote them. One per compilation: no globals.
// Thread: loop-confined to the compilation.   Owns: texts.   Bounds: a file of at most 4 GiB, refused earlier by the driver's own limit.
class SourceMap {
 public:
  FileId Add(std::string name, std::string text);
  std::string_view name(FileId file) const { return files_[static_cast<size_t>(file)].name; }
  std::string_view text(FileId file) const { return files_[static_cast<size_t>(file)].text; }
  std::string_view Text(const Span& span) const;
  Position PositionOf(FileId file, uint32_t byte) const;     // the column in bytes.   Cost: O(log lines)
  Position ShownPosition(FileId file, uint32_t byte) const;  // the column in characters, as people and editors count.   Cost: the same
  std::string_view Line(FileId file, uint32_t line) const;   // without its line break
  size_t size() const { return files_.size(); }

 private:
  static constexpr uint32_t kStretch = 512;
  uint32_t CharactersBefore(FileId file, uint32_t byte) const;

  struct File {
    std::string name, text;
    std::vector<uint32_t> line_begins;
    std::vector<uint32_t> characters;  // that begin before every kStretch-th byte
  };
  std::deque<File> files_;
};

}  // namespace wf::source
