#include <emmintrin.h>

#include <array>
#include <bit>

#include "runtime/base/ascii.h"
#include "runtime/base/base64.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

// The first byte at or after `at` that a string cannot take as it is: quote, backslash, control or not ASCII. Reads up to 16 bytes past
// `end`.
const uint8_t* FindSpecial(const uint8_t* at, const uint8_t* end) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  const __m128i control = _mm_set1_epi8(0x20);
  while (at < end) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Signed compare: bytes from 0x80 on are negative, so below 0x20 too.
    const __m128i special =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)), _mm_cmplt_epi8(bytes, control));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(special));
    if (mask != 0) {
      at += std::countr_zero(mask);
      return at < end ? at : end;
    }
    at += 16;
  }
  return end;
}

// Four hexadecimal digits, -1 if there are none.
int32_t HexUnit(const uint8_t* at, const uint8_t* end) {
  if (end - at < 4) return -1;
  int32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = base::HexValue(static_cast<char>(at[i]));
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

uint8_t* PutUtf8(uint8_t* out, uint32_t point) {
  if (point < 0x80) {
    *out++ = static_cast<uint8_t>(point);
  } else if (point < 0x800) {
    *out++ = static_cast<uint8_t>(0xc0 | point >> 6);
    *out++ = static_cast<uint8_t>(0x80 | (point & 63));
  } else if (point < 0x10000) {
    *out++ = static_cast<uint8_t>(0xe0 | point >> 12);
    *out++ = static_cast<uint8_t>(0x80 | (point >> 6 & 63));
    *out++ = static_cast<uint8_t>(0x80 | (point & 63));
  } else {
    *out++ = static_cast<uint8_t>(0xf0 | point >> 18);
    *out++ = static_cast<uint8_t>(0x80 | (point >> 12 & 63));
    *out++ = static_cast<uint8_t>(0x80 | (point >> 6 & 63));
    *out++ = static_cast<uint8_t>(0x80 | (point & 63));
  }
  return out;
}

// \uXXXX and pairs of them; `at` behind the u. Null: not a code point.
const uint8_t* DecodeUnicode(const uint8_t* at, const uint8_t* end, uint8_t** out) {
  const int32_t first = HexUnit(at, end);
  if (first < 0 || (first >= 0xdc00 && first < 0xe000)) return nullptr;
  at += 4;
  auto point = static_cast<uint32_t>(first);
  if (first >= 0xd800 && first < 0xdc00) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return nullptr;
    const int32_t second = HexUnit(at + 2, end);
    if (second < 0xdc00 || second >= 0xe000) return nullptr;
    point = 0x10000 + ((static_cast<uint32_t>(first) - 0xd800) << 10) + (static_cast<uint32_t>(second) - 0xdc00);
    at += 6;
  }
  *out = PutUtf8(*out, point);
  return at;
}

// One escape; `at` on the backslash. Null: no escape of JSON.
const uint8_t* DecodeEscape(const uint8_t* at, const uint8_t* end, uint8_t** out) {
  if (end - at < 2) return nullptr;
  uint8_t plain = 0;
  switch (at[1]) {
    case '"':
    case '\\':
    case '/':
      plain = at[1];
      break;
    case 'b':
      plain = '\b';
      break;
    case 'f':
      plain = '\f';
      break;
    case 'n':
      plain = '\n';
      break;
    case 'r':
      plain = '\r';
      break;
    case 't':
      plain = '\t';
      break;
    case 'u':
      return DecodeUnicode(at + 2, end, out);
    default:
      return nullptr;
  }
  *(*out)++ = plain;
  return at + 2;
}

// The end of the string whose first special byte is at `at`, or null after a failure. `escapes`: whether it must be decoded.
const uint8_t* FindEnd(wf_json* in, const uint8_t* begin, const uint8_t* at, bool* escapes) {
  bool ascii = true;
  while (true) {
    if (at == in->end) {
      in->at = begin - 1;
      Refuse(in, "a string without an end");
      return nullptr;
    }
    if (*at == '"') break;
    if (*at == '\\') {
      *escapes = true;
      at += at + 1 < in->end ? 2 : 1;
    } else if (*at < 0x20) {
      in->at = at;
      Refuse(in, "a control character inside a string; write it as an escape");
      return nullptr;
    } else {
      ascii = false;
      while (at < in->end && *at >= 0x80) ++at;
    }
    at = FindSpecial(at, in->end);
  }
  if (!ascii) {
    const uint8_t* bad = base::FindBadUtf8(begin, at);
    if (bad != at) {
      in->at = bad;
      Refuse(in, "the string is not UTF-8");
      return nullptr;
    }
  }
  return at;
}

wf_code DecodeString(wf_json* in, const uint8_t* begin, const uint8_t* end, wf_bytes* out) {
  // No escape decodes to more bytes than it takes.
  auto* decoded = static_cast<uint8_t*>(wf_alloc(in->ctx, static_cast<uint64_t>(end - begin), 1));
  if (decoded == nullptr) return WF_FAILED;
  uint8_t* to = decoded;
  for (const uint8_t* at = begin; at < end;) {
    if (*at != '\\') {
      *to++ = *at++;
      continue;
    }
    const uint8_t* next = DecodeEscape(at, end, &to);
    if (next == nullptr) {
      in->at = at;
      return Refuse(in, "not an escape of JSON, or half of a surrogate pair");
    }
    at = next;
  }
  *out = {decoded, static_cast<uint64_t>(to - decoded)};
  return 0;
}

}  // namespace

}  // namespace wf::json

extern "C" {

wf_code wf_json_string(wf_json* in, wf_bytes* out) noexcept {
  using namespace wf::json;
  if (Peek(in) != '"') return Expected(in, "a string");
  const uint8_t* begin = in->at + 1;
  bool escapes = false;
  const uint8_t* end = FindEnd(in, begin, FindSpecial(begin, in->end), &escapes);
  if (end == nullptr) return WF_FAILED;
  if (escapes) {
    if (DecodeString(in, begin, end, out) != 0) return WF_FAILED;
  } else {
    *out = {begin, static_cast<uint64_t>(end - begin)};
  }
  in->at = end + 1;
  return 0;
}

wf_code wf_json_bytes(wf_json* in, wf_bytes* out) noexcept {
  using namespace wf::json;
  if (Peek(in) != '{') return Expected(in, "bytes as {\"b64\": \"..\"}");
  ++in->at;
  wf_bytes name;
  if (Peek(in) != '"') return Expected(in, "the member `b64`");
  if (wf_json_string(in, &name) != 0) return WF_FAILED;
  if (View(name) != "b64") return Refuse(in, "bytes have the one member `b64`");
  if (!Take(in, ':')) return Expected(in, "`:`");
  const uint8_t* place = in->at;
  wf_bytes text;
  if (wf_json_string(in, &text) != 0) return WF_FAILED;
  auto* decoded = static_cast<uint8_t*>(wf_alloc(in->ctx, text.len / 4 * 3 + 64, 64));
  if (decoded == nullptr) return WF_FAILED;
  const int64_t size = wf::base::DecodeBase64(View(text), decoded);
  if (size < 0) {
    in->at = place;
    return Refuse(in, "not base64 (RFC 4648 with padding)");
  }
  *out = {decoded, static_cast<uint64_t>(size)};
  return Take(in, '}') ? 0 : Expected(in, "`}` after `b64`");
}

}  // extern "C"
