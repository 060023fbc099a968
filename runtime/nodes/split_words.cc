#include "runtime/nodes/split_words.h"

#include <array>
#include <utility>

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
struct Run {
  size_t length = 0, last = 0;
};
Run RunOf(Kind kind, std::string_view text, size_t at) {
  Run run;
  while (at + run.length < text.size()) {
    const CodePoint point = Decode(text.substr(at + run.length));
    if (KindOf(point.value) != kind) break;
    run.last = point.length;
    run.length += point.length;
  }
  return run;
}

// 's 't 're 've 'm 'll 'd
size_t LengthOfContraction(std::string_view text) {
  constexpr std::array<std::string_view, 7> kEndings{"s", "t", "re", "ve", "m", "ll", "d"};
  if (text[0] != '\'') return 0;
  for (const std::string_view ending : kEndings) {
    if (text.substr(1).starts_with(ending)) return 1 + ending.size();
  }
  return 0;
}

}  // namespace

Word WordSplitter::Next() {
  switch (split_) {
    case abi::TokenSplit::kBert:
      return NextOfBert();
    case abi::TokenSplit::kGpt2:
      return NextOfGpt2();
    case abi::TokenSplit::kWhole:
      break;
  }
  return {std::exchange(text_, {}), 0};
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

Word WordSplitter::NextOfGpt2() {
  if (text_.empty()) return {};
  const Word word{text_.substr(0, LengthOfGpt2()), 0};
  text_.remove_prefix(word.text.size());
  return word;
}

// The pattern 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
size_t WordSplitter::LengthOfGpt2() const {
  if (const size_t length = LengthOfContraction(text_); length != 0) return length;
  const size_t skip = text_[0] == ' ' && text_.size() > 1 ? 1 : 0;
  const Kind kind = KindOf(Decode(text_.substr(skip)).value);
  if (kind != Kind::kSpace) return skip + RunOf(kind, text_, skip).length;
  const Run spaces = RunOf(Kind::kSpace, text_, 0);
  const bool is_last = spaces.length == text_.size();
  return is_last || spaces.length == spaces.last ? spaces.length : spaces.length - spaces.last;
}

}  // namespace wf::nodes
