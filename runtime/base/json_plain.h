#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/base/json_text.h"

namespace wf::base {

// The loop that texts of JSON are written by, inline where they are many.

inline constexpr size_t kPlainJsonBytes = 16;

// 16 bytes, of which the first `count` are those at `at`. What lies behind a text is read with it, where that is in the same page and so
// can be: the lengths of texts cannot be predicted, and branches on them took longer than all else.
__attribute__((no_sanitize("address", "thread"))) inline __m128i LoadPlainBytes(const uint8_t* at, size_t count) {
  constexpr uintptr_t kPageBytes = 4096;
  if (count == kPlainJsonBytes || reinterpret_cast<uintptr_t>(at) % kPageBytes <= kPageBytes - kPlainJsonBytes) [[likely]]
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  uint8_t bytes[kPlainJsonBytes] = {};
  std::memcpy(bytes, at, count);
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
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
    const auto count = std::min(kPlainJsonBytes, static_cast<size_t>(end - at));
    const __m128i bytes = LoadPlainBytes(at, count);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
    const uint32_t escapes = WhichNeedJsonEscape(bytes) & ((UINT32_C(1) << count) - 1);
    if (escapes == 0) {  // what follows need not wait for the place of the first
      at += count;
      to += count;
      continue;
    }
    const auto plain = static_cast<size_t>(std::countr_zero(escapes));
    const JsonEscape& escape = EscapeJson(at[plain]);
    std::memcpy(to + plain, escape.text, sizeof escape.text);
    at += plain + 1;
    to += plain + escape.bytes;
  }
  return to;
}

}  // namespace wf::base
