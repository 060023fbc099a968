#include "runtime/base/float_text.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "runtime/base/half.h"
#include "runtime/base/powers_of_ten.h"
#include "runtime/base/shortest_decimal.h"

namespace wf::base {
namespace {

constexpr int kLeastPlaces = -4, kMostPlaces = 15;  // exponents of numbers that are written without one
constexpr int32_t kManyWhole = 1'000'000;           // counts, labels, zeros: the same text, sooner
constexpr int kMostDigits = 17;                     // of a double

constexpr auto kWholePowers = [] {
  std::array<uint64_t, kMostDigits + 1> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// The sixteen digits of a number below 1e16, a byte each, the first in the lowest: eights, fours, twos and ones are split side by side,
// by products that are exact for as many places.
inline __m128i SixteenDigits(uint64_t number) {
  constexpr uint32_t kEight = 100'000'000;
  const __m128i eights = _mm_set_epi64x(static_cast<int64_t>(number % kEight), static_cast<int64_t>(number / kEight));
  const __m128i high_fours = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(0xd1b71759)), 45);  // by 10,000
  const __m128i low_fours = _mm_sub_epi64(eights, _mm_mul_epu32(high_fours, _mm_set1_epi64x(10'000)));
  const __m128i fours = _mm_or_si128(high_fours, _mm_slli_epi64(low_fours, 32));
  const __m128i high_twos = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi32(5243)), 3);  // by 100
  const __m128i low_twos = _mm_sub_epi16(fours, _mm_mullo_epi16(high_twos, _mm_set1_epi32(100)));
  const __m128i twos = _mm_or_si128(high_twos, _mm_slli_epi32(low_twos, 16));
  const __m128i tens = _mm_srli_epi16(_mm_mullo_epi16(twos, _mm_set1_epi16(103)), 10);  // by 10
  const __m128i ones = _mm_sub_epi16(twos, _mm_mullo_epi16(tens, _mm_set1_epi16(10)));
  return _mm_or_si128(tens, _mm_slli_epi16(ones, 8));
}

// Seventeen digits, characters, the first no zero, and how many of them are to be written; the rest are zeros.
struct Digits {
  __m128i others;  // in a register: what is read across several stores has to wait for them
  char first;
  int count;
  int exponent;  // of the first
};

inline Digits DigitsOf(Decimal decimal) {
  const int log2 = 63 - std::countl_zero(decimal.digits);
  int places = FloorLog10OfTwoTo(log2) + 1;
  places += decimal.digits >= kWholePowers[static_cast<size_t>(places)] ? 1 : 0;
  const uint64_t all = decimal.digits * kWholePowers[static_cast<size_t>(kMostDigits - places)];
  const uint64_t first = all / kWholePowers[kMostDigits - 1];
  const __m128i others = SixteenDigits(all % kWholePowers[kMostDigits - 1]);
  const auto zeros = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(others, _mm_setzero_si128())));
  return {.others = _mm_or_si128(others, _mm_set1_epi8('0')),
          .first = static_cast<char>('0' + first),
          .count = 1 + static_cast<int>(std::bit_width(~zeros & 0xffff)),
          .exponent = decimal.exponent + places - 1};
}

char* PutExponent(char* at, int exponent) {
  *at++ = 'e';
  *at++ = exponent < 0 ? '-' : '+';
  const int places = std::abs(exponent);
  if (places >= 100) *at++ = static_cast<char>('0' + places / 100);
  *at++ = static_cast<char>('0' + places / 10 % 10);
  *at++ = static_cast<char>('0' + places % 10);
  return at;
}

inline void PutOthers(char* at, __m128i others) { _mm_storeu_si128(reinterpret_cast<__m128i*>(at), others); }

// Writes more bytes than the text has, for copies of one size are the quickest: at most kMostFloatText in all.
inline char* PutDigits(char* at, const Digits& digits) {
  const int exponent = digits.exponent;
  if (exponent > kMostPlaces || exponent < kLeastPlaces) {
    *at = digits.first;
    if (digits.count == 1) return PutExponent(at + 1, exponent);
    at[1] = '.';
    PutOthers(at + 2, digits.others);
    return PutExponent(at + 1 + digits.count, exponent);
  }
  if (exponent < 0) {
    std::memcpy(at, "0.0000", 6);
    at += 1 - exponent;
    *at = digits.first;
    PutOthers(at + 1, digits.others);
    return at + digits.count;
  }
  *at = digits.first;
  if (digits.count <= exponent + 1) {
    PutOthers(at + 1, digits.others);
    return at + exponent + 1;
  }
  // Those behind the point are one place further on.
  const __m128i lanes = _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m128i whole = _mm_cmplt_epi8(lanes, _mm_set1_epi8(static_cast<char>(exponent)));
  PutOthers(at + 2, digits.others);
  PutOthers(at + 1, _mm_or_si128(_mm_and_si128(whole, digits.others), _mm_andnot_si128(whole, _mm_slli_si128(digits.others, 1))));
  at[exponent + 1] = '.';
  return at + 1 + digits.count;
}

// From here on all digits of a whole number are written, more than tell it from others, where an exponent makes it no shorter. Infinities
// and what is no number belong here, too.
template <typename T>
char* PutLarge(char* at, T value) {
  char* const end = std::to_chars(at, at + kMostFloatText, value).ptr;
  if (end - at < 5 || end[-4] != 'e') return end;
  const int exponent = (end[-2] - '0') * 10 + end[-1] - '0';
  if (exponent > kMostPlaces) return end;
  char* const first = at + (*at == '-' ? 1 : 0);
  char* const digits_end = std::remove(first, end - 4, '.');
  return std::fill_n(digits_end, exponent + 1 - (digits_end - first), '0');
}

template <typename T>
char* Put(char* at, T value) {
  constexpr T kWholeFrom = T(UINT64_C(1) << std::numeric_limits<T>::digits);
  const T magnitude = std::abs(value);
  if (!(magnitude < kWholeFrom)) return PutLarge(at, value);
  *at = '-';  // no branch: signs cannot be predicted
  at += std::signbit(value) ? 1 : 0;
  if (magnitude < T{kManyWhole}) {
    const auto whole = static_cast<int32_t>(magnitude);
    if (T(whole) == magnitude) {
      at = std::to_chars(at, at + kMostFloatText - 3, whole).ptr;
      if (whole != 0 || !std::signbit(value)) return at;
      at[0] = '.';  // `-0` is an integer to many readers, which has no sign
      at[1] = '0';
      return at + 2;
    }
  }
  return PutDigits(at, DigitsOf(ShortestDecimal(magnitude)));
}

// A format of 16 bits, whose fewest digits are found by trying.
struct HalfFormat {
  double (*value)(uint16_t bits);
  uint16_t (*bits)(double value);
  uint16_t fraction;
};

constexpr HalfFormat kHalf = {DoubleFromHalf, HalfFromDouble, 0x3ff};
constexpr HalfFormat kBfloat = {[](uint16_t bits) { return double{FloatFromBfloat(bits)}; }, BfloatFromDouble, 0x7f};

// Beyond 1e22 they are not exact, which tells in none of the few digits of a bf16.
constexpr auto kFloatPowers = [] {
  std::array<double, 48> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

double Shifted(double value, int places) {
  return places < 0 ? value / kFloatPowers[static_cast<size_t>(-places)] : value * kFloatPowers[static_cast<size_t>(places)];
}

// Of a number that is neither whole and small nor special.
char* PutNarrow(char* at, const HalfFormat& format, uint16_t bits) {
  const double value = format.value(bits);
  // Above a power of two what rounds to it reaches twice as far as below, to digits that are not the nearest of their count.
  const double above = (bits & format.fraction) == 0 ? value + (format.value(bits + 1) - value) / 4 : value;
  int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value)))), places = 0;
  double read = 0;
  const auto fits = [&](double near) {
    read = Shifted(std::nearbyint(Shifted(near, places - exponent)), exponent - places);
    return format.bits(read) == bits;
  };
  while (!fits(value) && (above == value || !fits(above))) ++places;
  if (std::fabs(read) >= Shifted(10, exponent)) ++exponent;  // 9.9 has become 10
  if (exponent < kLeastPlaces || exponent > kMostPlaces)
    return std::to_chars(at, at + kMostFloatText, read, std::chars_format::scientific, places).ptr;
  return std::to_chars(at, at + kMostFloatText, read, std::chars_format::fixed, std::max(0, places - exponent)).ptr;
}

char* Put(char* at, const HalfFormat& format, uint16_t bits) {
  const double value = format.value(bits);
  const bool plain = !std::isfinite(value) || (std::abs(value) < kManyWhole && value == std::trunc(value));
  return plain ? Put(at, value) : PutNarrow(at, format, bits);
}

}  // namespace

char* PutFloat(char* at, float value) { return Put(at, value); }
char* PutFloat(char* at, double value) { return Put(at, value); }
char* PutHalf(char* at, uint16_t bits) { return Put(at, kHalf, bits); }
char* PutBfloat(char* at, uint16_t bits) { return Put(at, kBfloat, bits); }

}  // namespace wf::base
