#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace wf::diag {

// A part of one source line as a terminal shows it: tabs as spaces, control and direction characters replaced, far ends cut.
// Cost: linear in the part shown, whatever the length of the line.
class Excerpt {
 public:
  // `focus`: byte of the line that must be visible.
  Excerpt(std::string_view line, size_t focus);

  const std::string& text() const { return text_; }
  // The column, from 0, at which the character at `byte` of the line is shown; bytes outside the part give its ends.
  size_t ColumnOf(size_t byte) const;

 private:
  void Append(std::string_view bytes, char32_t value);

  size_t begin_ = 0;  // first byte shown
  std::string text_;
  std::vector<size_t> columns_;  // per byte shown, and one for the end
  size_t width_ = 0;
};

// Columns that the character takes on a terminal: 0, 1 or 2.
int DisplayWidth(char32_t character);

// `text` on one line of a terminal or a report: line breaks and what is unseen as strings of programs write them, `\n`, `\u{1B}`.
std::string OneLine(std::string_view text);

// `text` with control and direction characters replaced, for terminals.
std::string Harmless(std::string_view text);

}  // namespace wf::diag
