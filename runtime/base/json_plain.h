#pragma once

#include <emmintrin.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/base/json_text.h"
#include "runtime/base/load.h"

namespace wf::base {

// The loop that texts of JSON are written by, inline where they are many.

inline constexpr size_t kPlainJsonBytes = 16;

// Up to 15 bytes, with zeros behind them: what is loaded from both ends may overlap.
inline __m128i LoadFewBytes(const uint8_t* at, size_t count) {
  if (count >= 8) {
    const uint64_t last = count == 8 ? 0 : Load<uint64_t>(at + count - 8) >> 8 * (16 - count);
    return _mm_set_epi64x(static_cast<int64_t>(last), Load<int64_t>(at));
  }
  uint64_t bytes = 0;
  if (count >= 4) {
    bytes = Load<uint32_t>(at) | static_cast<uint64_t>(Load<uint32_t>(at + count - 4)) << 8 * (count - 4);
  } else if (count > 0) {
    bytes = at[0] | static_cast<uint64_t>(at[count / 2]) << 8 * (count / 2) | static_cast<uint64_t>(at[count - 1]) << 8 * (count - 1);
  }
  return _mm_set_epi64x(0, static_cast<int64_t>(bytes));
}

// NeedsJsonEscape of 16 bytes, a bit each.
inline uint32_t WhichNeedJsonEscape(__m128i bytes) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  const __m128i others = _mm_or_si128(control, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_or_si128(marks, others)));
}

// What CopyEscapedJson writes at most, of so many bytes.
constexpr size_t MostEscapedJson(size_t bytes) { return 6 * bytes + kPlainJsonBytes; }

// Copies [at, end), which is UTF-8, to `to` with its escapes, without quotes: where it ends. REQUIRES: room for MostEscapedJson, all of
// which may be written.
inline uint8_t* CopyEscapedJson(const uint8_t* at, const uint8_t* end, uint8_t* to) {
  while (at < end) {
    const auto count = static_cast<size_t>(end - at);
    const __m128i bytes = count >= kPlainJsonBytes ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)) : LoadFewBytes(at, count);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    // The zeros behind an end need an escape, too; of 16 bytes that need none the bit beyond them is the first.
    const auto plain = static_cast<size_t>(std::countr_zero(WhichNeedJsonEscape(bytes) | UINT32_C(1) << kPlainJsonBytes));
    at += plain;
    to += plain;
    if (plain == kPlainJsonBytes || at == end) continue;
    const JsonEscape& escape = EscapeJson(*at++);
    std::memcpy(to, escape.text, sizeof escape.text);
    to += escape.bytes;
  }
  return to;
}

}  // namespace wf::base
