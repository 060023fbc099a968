#include "runtime/nodes/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace wf::nodes {
namespace {

bool IsWithin(int32_t x, int32_t first, int32_t last) { return x >= first && x <= last; }

bool IsHangul(int32_t x) { return IsWithin(x, 0xac00, 0xd7a3); }

size_t StartOfLast(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}

}  // namespace

uint32_t Encode(int32_t code_point, char* out) {
  const auto x = static_cast<uint32_t>(code_point);
  if (x < 0x80) {
    out[0] = static_cast<char>(x);
    return 1;
  }
  const uint32_t length = x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;
  for (uint32_t i = 1; i < length; ++i) out[i] = static_cast<char>(0x80 | (x >> 6 * (length - 1 - i) & 0x3f));
  out[0] = static_cast<char>((0xf00 >> length & 0xf0) | x >> 6 * (length - 1));
  return length;
}

bool IsSpace(int32_t x) {
  if (x < 0x80) return x == ' ' || IsWithin(x, 9, 13);
  return x == 0x85 || x == 0xa0 || x == 0x1680 || IsWithin(x, 0x2000, 0x200a) || x == 0x2028 || x == 0x2029 || x == 0x202f || x == 0x205f ||
         x == 0x3000;
}

bool IsPythonSpace(int32_t x) { return IsSpace(x) || IsWithin(x, 0x1c, 0x1f); }

size_t SpacesAtStart(std::string_view text, bool (*is_space)(int32_t)) {
  size_t at = 0;
  while (at < text.size()) {
    const CodePoint point = Decode(text.substr(at));
    if (!is_space(point.value)) break;
    at += point.length;
  }
  return at;
}

size_t WithoutSpacesAtEnd(std::string_view text, bool (*is_space)(int32_t)) {
  while (!text.empty()) {
    const size_t last = StartOfLast(text);
    if (!is_space(Decode(text.substr(last)).value)) break;
    text = text.substr(0, last);
  }
  return text.size();
}

bool IsLetter(int32_t x) { return IsWithin(utf8proc_category(x), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO); }

bool IsNumber(int32_t x) { return IsWithin(utf8proc_category(x), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }

bool IsPunctuation(int32_t x) {
  if (x < 0x80) return IsWithin(x, 33, 47) || IsWithin(x, 58, 64) || IsWithin(x, 91, 96) || IsWithin(x, 123, 126);
  return IsWithin(utf8proc_category(x), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

bool IsControl(int32_t x) { return utf8proc_category(x) >= UTF8PROC_CATEGORY_CC; }

bool IsNonspacing(int32_t x) { return utf8proc_category(x) == UTF8PROC_CATEGORY_MN; }

bool IsMark(int32_t x) { return IsWithin(utf8proc_category(x), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME); }

bool IsIdeograph(int32_t x) {
  return IsWithin(x, 0x4e00, 0x9fff) || IsWithin(x, 0x3400, 0x4dbf) || IsWithin(x, 0x20000, 0x2a6df) || IsWithin(x, 0x2a700, 0x2b73f) ||
         IsWithin(x, 0x2b740, 0x2b81f) || IsWithin(x, 0x2b920, 0x2ceaf) || IsWithin(x, 0xf900, 0xfaff) || IsWithin(x, 0x2f800, 0x2fa1f);
}

bool Decomposes(int32_t x, bool is_compat) {
  if (x < 0xa0) return false;
  if (IsHangul(x)) return true;
  const utf8proc_property_t* const property = utf8proc_get_property(x);
  return property->decomp_seqindex != UINT16_MAX && (is_compat || property->decomp_type == 0);
}

bool StaysAlone(int32_t x, bool is_compat, bool is_composed) {
  constexpr int32_t kFirstMark = 0x300, kFirstSecond = 0x8000;
  if (x < 0xa0) return true;
  const utf8proc_property_t* const property = utf8proc_get_property(x);
  if (!is_composed || x >= kFirstMark) {
    if (property->combining_class != 0 || (Decomposes(x, is_compat) && !(is_composed && IsHangul(x)))) return false;
  } else if (is_compat && property->decomp_seqindex != UINT16_MAX && property->decomp_type != 0) {
    return false;  // others below the first mark decompose into two that are composed again
  }
  const bool is_second = property->comb_index != UINT16_MAX && property->comb_index >= kFirstSecond;
  return !is_composed || (!is_second && !IsWithin(x, 0x1160, 0x11ff));
}

uint32_t EncodeFolded(int32_t x, char* out) {
  if (utf8proc_get_property(x)->casefold_seqindex == UINT16_MAX) return 0;
  std::array<utf8proc_int32_t, 4> folded{};
  int boundary = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(x, folded.data(), folded.size(), static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD), &boundary);
  uint32_t bytes = 0;
  for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, 3); ++i) bytes += Encode(folded[static_cast<size_t>(i)], out + bytes);
  return bytes;
}

int32_t Lower(int32_t x) { return utf8proc_tolower(x); }

}  // namespace wf::nodes
