#include "compiler/base/utf8.h"

#include <cstdint>

namespace wf::source {
namespace {

uint8_t ByteAt(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }
bool ContinuesAt(std::string_view text, size_t at) { return at < text.size() && IsContinuation(text[at]); }

// Length of the well-formed sequence at `at`, 0 if there is none.
size_t SequenceLength(std::string_view text, size_t at) {
  const uint8_t lead = ByteAt(text, at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  if (!ContinuesAt(text, at + 1)) return 0;
  const uint8_t second = ByteAt(text, at + 1);
  if (lead < 0xE0) return 2;
  if (!ContinuesAt(text, at + 2)) return 0;
  if (lead < 0xF0) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (!ContinuesAt(text, at + 3)) return 0;
  const bool overlong = lead == 0xF0 && second < 0x90;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || too_large ? 0 : 4;
}

}  // namespace

std::optional<size_t> FirstBadByte(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = SequenceLength(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

size_t ByteOrderMarkLength(std::string_view text) { return text.starts_with("\xEF\xBB\xBF") ? 3 : 0; }

bool IsUnseen(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c < 0x20 || in(0x7F, 0x9F) || c == 0xAD || c == 0x61C || c == 0x180E || c == 0x200B || in(0x200E, 0x200F) || in(0x2028, 0x202E) ||
         in(0x2060, 0x206F) || c == 0xFEFF || in(0xFFF9, 0xFFFB) || in(0xE0000, 0xE007F);
}

bool IsScalarValue(char32_t code_point) { return code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF); }

void AppendUtf8(char32_t code_point, std::string& text) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

std::string Utf8Of(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint one = DecodeUtf8(text);
    AppendUtf8(one.value, out);
    text.remove_prefix(one.length);
  }
  return out;
}

CodePoint DecodeUtf8(std::string_view text) {
  const size_t length = SequenceLength(text, 0);
  if (length == 0) return {0xFFFD, 1};
  if (length == 1) return {ByteAt(text, 0), 1};
  char32_t value = ByteAt(text, 0) & (0xFF >> (length + 1));
  for (size_t at = 1; at < length; ++at) value = value << 6 | (ByteAt(text, at) & 0x3F);
  return {value, length};
}

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace wf::source
