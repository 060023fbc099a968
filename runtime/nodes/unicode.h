#pragma once

#include <cstdint>
#include <string_view>

namespace wf::nodes {

inline constexpr std::string_view kSpaceMark = "\u2581";  // what stands for a space in pieces of SentencePiece

struct CodePoint {
  int32_t value;
  uint32_t length;  // in bytes
};
// The first character of valid UTF-8. REQUIRES: non-empty.   Of other bytes: some character, within the text.
inline CodePoint Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const uint32_t length = byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length > text.size()) return {0xfffd, static_cast<uint32_t>(text.size())};
  const auto bits = [&](size_t i) { return byte(i) & 0x3f; };
  if (length == 2) return {(byte(0) & 0x1f) << 6 | bits(1), length};
  if (length == 3) return {(byte(0) & 0xf) << 12 | bits(1) << 6 | bits(2), length};
  return {(byte(0) & 7) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), length};
}
// Writes at most 4 bytes and says how many.
uint32_t Encode(int32_t code_point, char* out);

bool IsSpace(int32_t code_point);                     // Unicode's White_Space
bool IsPythonSpace(int32_t code_point);               // that and the separators of ASCII
bool IsLetter(int32_t code_point);                    // category L
bool IsNumber(int32_t code_point);                    // category N
bool IsPunctuation(int32_t code_point);               // category P, and all of ASCII that is neither letter, digit, space nor control
bool IsControl(int32_t code_point);                   // category C of what is assigned: control, format, private
bool IsNonspacing(int32_t code_point);                // category Mn
bool IsMark(int32_t code_point);                      // category M
bool IsIdeograph(int32_t code_point);                 // what BERT calls a Chinese character
int32_t Lower(int32_t code_point);                    // one to one
bool Decomposes(int32_t code_point, bool is_compat);  // in NFD, or NFKD, it is something else

// Whether a text of such characters alone is in that form: each is in it, is no mark and is composed with none before it. False of some
// that are so, too.
bool StaysAlone(int32_t code_point, bool is_compat, bool is_composed);

// The full case folding where it is another character: at most 12 bytes; says how many.
uint32_t EncodeFolded(int32_t code_point, char* out);

// Of scripts without capital letters, or behind all letters that have them: neither Lower nor EncodeFolded changes it. False of others,
// too.
inline bool HasNoCase(int32_t code_point) {
  const auto is_within = [&](int32_t first, int32_t last) { return code_point >= first && code_point <= last; };
  return is_within(0x590, 0x109f) || is_within(0x2d00, 0xa63f) || is_within(0xabc0, 0xfaff) || code_point >= 0x1f000;
}

size_t SpacesAtStart(std::string_view text, bool (*is_space)(int32_t) = IsSpace);       // their bytes
size_t WithoutSpacesAtEnd(std::string_view text, bool (*is_space)(int32_t) = IsSpace);  // bytes before them

}  // namespace wf::nodes
