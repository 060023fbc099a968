#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wf::source {

// Offset of the first byte that is not part of well-formed UTF-8 (overlong forms, surrogates and values above U+10FFFF are not).
std::optional<size_t> FirstBadByte(std::string_view text);

// 3 when `text` starts with a byte order mark, else 0.
size_t ByteOrderMarkLength(std::string_view text);

bool IsContinuation(char byte);  // of a character of several bytes: not its first one

void AppendUtf8(char32_t code_point, std::string& text);  // REQUIRES: a Unicode scalar value
bool IsScalarValue(char32_t code_point);
// Characters that turn the direction of the text behind them: an editor shows it in another order than it is read in.
constexpr bool TurnsDirection(char32_t code_point) {
  return (code_point >= 0x202A && code_point <= 0x202E) || (code_point >= 0x2066 && code_point <= 0x2069);
}
// Characters that a reader does not see, or that make the text around them look like another: controls, those that turn its direction,
// those without a width. Not the two joiners, of which words of some scripts and pictures are made.
bool IsUnseen(char32_t code_point);

struct CodePoint {
  char32_t value;
  size_t length;
};
std::string Utf8Of(std::string_view text);  // U+FFFD for each byte that begins no character
CodePoint DecodeUtf8(
    std::string_view text);  // of the first character; a byte that begins none yields U+FFFD, length 1. REQUIRES: non-empty

}  // namespace wf::source
