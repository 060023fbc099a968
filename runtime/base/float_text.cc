#include "runtime/base/float_text.h"

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

// The eight digits of a number, a byte each, the first in the lowest: fours, twos and ones are split side by side.
inline uint64_t EightDigits(uint32_t number) {
  const uint64_t fours = number / 10'000 | static_cast<uint64_t>(number % 10'000) << 32;
  const uint64_t hundreds = (fours * 10'486 >> 20) & UINT64_C(0x0000007f0000007f);
  const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  const uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
  return tens | (twos - 10 * tens) << 8;
}

constexpr size_t kCopied = kMostDigits - 1;

// Seventeen digits, the first no zero, and how many of them are to be written; the rest are zeros.
struct Digits {
  char text[kMostDigits + kCopied];  // with what copies of one size read behind them
  int count;
  int exponent;  // of the first
};

Digits DigitsOf(Decimal decimal) {
  constexpr uint64_t kCharacters = UINT64_C(0x3030303030303030);
  const int log2 = 63 - std::countl_zero(decimal.digits);
  int places = FloorLog10OfTwoTo(log2) + 1;
  places += decimal.digits >= kWholePowers[static_cast<size_t>(places)] ? 1 : 0;
  const uint64_t all = decimal.digits * kWholePowers[static_cast<size_t>(kMostDigits - places)];
  const auto nine = static_cast<uint32_t>(all / kWholePowers[8]), first = nine / static_cast<uint32_t>(kWholePowers[8]);
  const uint64_t left = EightDigits(nine % static_cast<uint32_t>(kWholePowers[8]));
  const uint64_t right = EightDigits(static_cast<uint32_t>(all % kWholePowers[8]));
  Digits digits;  // what lies behind the digits is copied, but never part of a text
  std::memset(digits.text + kMostDigits, 0, kCopied);
  digits.text[0] = static_cast<char>('0' + first);
  const uint64_t texts[] = {left | kCharacters, right | kCharacters};
  std::memcpy(digits.text + 1, texts, sizeof texts);
  const uint64_t last = right != 0 ? right : left;
  const int written = last == 0 ? 0 : 8 - std::countl_zero(last) / 8;
  digits.count = 1 + (right != 0 ? 8 : 0) + written;
  digits.exponent = decimal.exponent + places - 1;
  return digits;
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

// Writes more bytes than the text has, for copies of one size are the quickest: at most kMostFloatText in all.
char* PutDigits(char* at, const Digits& digits) {
  const int exponent = digits.exponent;
  if (exponent > kMostPlaces || exponent < kLeastPlaces) {
    *at = digits.text[0];
    if (digits.count == 1) return PutExponent(at + 1, exponent);
    at[1] = '.';
    std::memcpy(at + 2, digits.text + 1, kCopied);
    return PutExponent(at + 1 + digits.count, exponent);
  }
  if (exponent < 0) {
    std::memcpy(at, "0.0000", 6);
    at += 1 - exponent;
    std::memcpy(at, digits.text, kMostDigits);
    return at + digits.count;
  }
  std::memcpy(at, digits.text, kMostDigits);
  const int whole = exponent + 1;
  if (digits.count <= whole) return at + whole;
  char* const point = at + whole;
  *point = '.';
  std::memcpy(point + 1, digits.text + whole, kCopied);
  return at + 1 + digits.count;
}

// From here on all digits of a whole number are written, more than tell it from others. Infinities and what is no number belong here, too.
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
  if (std::signbit(value)) *at++ = '-';
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
