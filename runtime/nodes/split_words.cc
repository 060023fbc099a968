#include "runtime/nodes/split_words.h"

#include <algorithm>
#include <array>

#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

enum class Kind : uint8_t { kLetter, kNumber, kSpace, kRest };

Kind KindOf(int32_t x) {
  if (x < 0x80) {
    const int32_t small = x | 0x20;
    if (small >= 'a' && small <= 'z') return Kind::kLetter;
    if (x >= '0' && x <= '9') return Kind::kNumber;
    return IsSpace(x) ? Kind::kSpace : Kind::kRest;
  }
  return IsLetter(x) ? Kind::kLetter : IsNumber(x) ? Kind::kNumber : IsSpace(x) ? Kind::kSpace : Kind::kRest;
}

// Bytes of the characters of one kind from `at` on, and of the last of them.
struct Stretch {
  size_t length = 0, last = 0;
};
Stretch StretchOf(Kind kind, std::string_view text, size_t at, size_t most = SIZE_MAX) {
  Stretch stretch;
  for (; most > 0 && at + stretch.length < text.size(); --most) {
    const CodePoint point = Decode(text.substr(at + stretch.length));
    if (KindOf(point.value) != kind) break;
    stretch.last = point.length;
    stretch.length += point.length;
  }
  return stretch;
}

constexpr std::array<std::string_view, 7> kContractions{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

size_t LengthOfContraction(std::string_view text) {
  if (text[0] != '\'') return 0;
  for (const std::string_view one : kContractions) {
    if (text.starts_with(one)) return one.size();
  }
  return 0;
}

// Of capitals and small letters alike, to which the long s belongs.
size_t LengthOfAnyContraction(std::string_view text) {
  constexpr std::string_view kLongS = "'\u017f";
  if (text[0] != '\'') return 0;
  if (text.starts_with(kLongS)) return kLongS.size();
  std::array<char, 3> small{};
  const size_t length = std::min(text.size(), small.size());
  for (size_t i = 0; i < length; ++i) small[i] = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + ('a' - 'A')) : text[i];
  return LengthOfContraction({small.data(), length});
}

// Of spaces, in the order of the patterns: `\s+(?!\S)|\s+` leaves the last to the word behind.
size_t LengthOfSpaces(const Stretch& spaces, bool is_end) {
  return is_end || spaces.length == spaces.last ? spaces.length : spaces.length - spaces.last;
}

}  // namespace

Word WordSplitter::Next() {
  switch (split_) {
    case abi::TokenSplit::kBert:
      return NextOfBert();
    case abi::TokenSplit::kGpt2:
      return Take(text_.empty() ? 0 : LengthOfGpt2());
    case abi::TokenSplit::kGpt4:
      return Take(text_.empty() ? 0 : LengthOfGpt4(3));
    case abi::TokenSplit::kQwen:
      return Take(text_.empty() ? 0 : LengthOfGpt4(1));
    case abi::TokenSplit::kMarks:
      return Take(text_.empty() ? 0 : LengthOfMarked());
    case abi::TokenSplit::kWhole:
      break;
  }
  return Take(text_.size());
}

Word WordSplitter::Take(size_t length) {
  const Word word{text_.substr(0, length), 0};
  text_.remove_prefix(length);
  return word;
}

// Spaces part words, each punctuation mark is one.
Word WordSplitter::NextOfBert() {
  Word word{text_.substr(0, 0), 0};
  size_t at = 0;
  while (at < text_.size()) {
    const CodePoint point = Decode(text_.substr(at));
    if (IsSpace(point.value)) {
      if (word.characters != 0) break;
      text_.remove_prefix(at + point.length);
      at = 0;
      continue;
    }
    const bool is_mark = IsPunctuation(point.value);
    if (is_mark && word.characters != 0) break;
    at += point.length;
    ++word.characters;
    if (is_mark) break;
  }
  word.text = text_.substr(0, at);
  text_.remove_prefix(at);
  return word;
}

size_t WordSplitter::LengthOfMarked() const { return std::min(text_.find(kSpaceMark, 1), text_.size()); }

// The pattern 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t WordSplitter::LengthOfGpt2() const {
  if (const size_t length = LengthOfContraction(text_); length != 0) return length;
  const size_t skip = text_[0] == ' ' && text_.size() > 1 ? 1 : 0;
  const Kind kind = KindOf(Decode(text_.substr(skip)).value);
  if (kind != Kind::kSpace) return skip + StretchOf(kind, text_, skip).length;
  const Stretch spaces = StretchOf(Kind::kSpace, text_, 0);
  return LengthOfSpaces(spaces, spaces.length == text_.size());
}

// The pattern (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
size_t WordSplitter::LengthOfGpt4(size_t most_digits) const {
  if (const size_t length = LengthOfAnyContraction(text_); length != 0) return length;
  const auto is_line = [](char c) { return c == '\r' || c == '\n'; };
  const CodePoint first = Decode(text_);
  const Kind kind = KindOf(first.value);
  if (kind == Kind::kNumber) return StretchOf(kind, text_, 0, most_digits).length;
  const size_t before_letters = kind == Kind::kLetter || is_line(text_[0]) ? 0 : first.length;
  if (const Stretch letters = StretchOf(Kind::kLetter, text_, before_letters); letters.length != 0) return before_letters + letters.length;
  const size_t skip = text_[0] == ' ' ? 1 : 0;
  if (const Stretch rest = StretchOf(Kind::kRest, text_, skip); rest.length != 0) {
    size_t end = skip + rest.length;
    while (end < text_.size() && is_line(text_[end])) ++end;
    return end;
  }
  const Stretch spaces = StretchOf(Kind::kSpace, text_, 0);
  const size_t last_line = text_.substr(0, spaces.length).find_last_of("\r\n");
  if (last_line != text_.npos) return last_line + 1;
  return LengthOfSpaces(spaces, spaces.length == text_.size());
}

}  // namespace wf::nodes
