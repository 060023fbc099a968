#include "compiler/diag/excerpt.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "compiler/base/utf8.h"

namespace wf::diag {
namespace {

constexpr size_t kTabWidth = 4;
constexpr size_t kLongestLine = 200;  // bytes; longer ones are shown around the focus
constexpr size_t kBefore = 60, kAfter = 100;

struct Range {
  char32_t first, last;
};
constexpr std::array<Range, 5> kNoWidth = {{{0x300, 0x36F}, {0x200B, 0x200D}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
constexpr std::array<Range, 11> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0xA4CF},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE4F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F900, 0x1F9FF},
                                          {0x20000, 0x3FFFD}}};

template <size_t N>
bool Contains(const std::array<Range, N>& ranges, char32_t character) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& r) { return character >= r.first && character <= r.last; });
}

}  // namespace

int DisplayWidth(char32_t character) {
  if (character < 0x300) return 1;
  if (Contains(kNoWidth, character)) return 0;
  return Contains(kWide, character) ? 2 : 1;
}

std::string OneLine(std::string_view text) {
  std::string line;
  for (; !text.empty(); text.remove_prefix(source::DecodeUtf8(text).length)) {
    const source::CodePoint one = source::DecodeUtf8(text);
    if (one.value == '\n') {
      line += "\\n";
    } else if (source::IsUnseen(one.value)) {
      std::array<char, 8> digits;
      (void)std::snprintf(digits.data(), digits.size(), "%02X", static_cast<unsigned>(one.value));
      line.append("\\u{").append(digits.data()).append("}");
    } else {
      line += text.substr(0, one.length);
    }
  }
  return line;
}

std::string Harmless(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const source::CodePoint one = source::DecodeUtf8(text);
    source::AppendUtf8(source::IsUnseen(one.value) && one.value != '\n' ? 0xFFFD : one.value, shown);
    text.remove_prefix(one.length);
  }
  return shown;
}

Excerpt::Excerpt(std::string_view line, size_t focus) {
  focus = std::min(focus, line.size());
  size_t end = line.size();
  if (line.size() > kLongestLine) {
    begin_ = focus > kBefore ? focus - kBefore : 0;
    end = std::min(line.size(), focus + kAfter);
    while (begin_ > 0 && source::IsContinuation(line[begin_])) --begin_;
    while (end < line.size() && source::IsContinuation(line[end])) ++end;
  }
  if (begin_ > 0) {
    text_ = "…";
    width_ = 1;
  }
  std::string_view rest = line.substr(begin_, end - begin_);
  while (!rest.empty()) {
    const source::CodePoint one = source::DecodeUtf8(rest);
    Append(rest.substr(0, one.length), one.value);
    rest.remove_prefix(one.length);
  }
  columns_.push_back(width_);
  if (end < line.size()) text_ += "…";
}

void Excerpt::Append(std::string_view bytes, char32_t value) {
  columns_.insert(columns_.end(), bytes.size(), width_);
  if (value == '\t') {
    const size_t spaces = kTabWidth - width_ % kTabWidth;
    text_.append(spaces, ' ');
    width_ += spaces;
    return;
  }
  const char32_t shown = source::IsUnseen(value) ? 0xFFFD : value;
  source::AppendUtf8(shown, text_);
  width_ += static_cast<size_t>(DisplayWidth(shown));
}

size_t Excerpt::ColumnOf(size_t byte) const {
  if (byte <= begin_) return columns_.front();
  return columns_[std::min(byte - begin_, columns_.size() - 1)];
}

}  // namespace wf::diag
