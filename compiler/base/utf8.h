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

struct CodePoint {
  char32_t value;
  size_t length;
};
CodePoint DecodeUtf8(
    std::string_view text);  // of the first character; a byte that begins none yields U+FFFD, length 1. REQUIRES: non-empty

}  // namespace wf::source
