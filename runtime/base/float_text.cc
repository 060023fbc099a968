#include "runtime/base/float_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "runtime/base/half.h"

namespace wf::base {
namespace {

constexpr int kLeastPlaces = -4, kMostPlaces = 15;  // exponents of numbers that are written without one
constexpr float kManyWhole = 1e6;                   // counts, labels, zeros: the same text, sooner

// Of `1.5e-04` all places, of `1e+05` too: where an exponent is the shorter way to write a number, its digits end left of the point or
// begin right of it.
char* PutPlaces(char* first, char* end, int exponent) {
  char digits[kMostFloatText];
  char* const digits_end = std::remove_copy(first, end, digits, '.');
  if (exponent >= 0) {
    char* const at = std::copy(digits, digits_end, first);
    return std::fill_n(at, exponent + 1 - (digits_end - digits), '0');
  }
  constexpr std::string_view kZeros = "0.000";
  char* const at = std::copy_n(kZeros.data(), 1 - exponent, first);
  return std::copy(digits, digits_end, at);
}

// Of a text that ends in `e-04`.
int ExponentBefore(const char* end) {
  const int places = (end[-2] - '0') * 10 + end[-1] - '0';
  return end[-3] == '-' ? -places : places;
}

template <typename T>
char* Put(char* at, T value) {
  constexpr std::string_view kMinusZero = "-0.0";  // `-0` is an integer to many readers, which has no sign
  if (value == 0 && std::signbit(value)) return std::copy(kMinusZero.begin(), kMinusZero.end(), at);
  if (std::abs(value) < T{kManyWhole} && value == std::trunc(value))
    return std::to_chars(at, at + kMostFloatText, static_cast<int32_t>(value)).ptr;
  char* const end = std::to_chars(at, at + kMostFloatText, value).ptr;
  if (end - at < 5 || end[-4] != 'e') return end;
  const int exponent = ExponentBefore(end);
  return exponent < kLeastPlaces || exponent > kMostPlaces ? end : PutPlaces(at + (*at == '-' ? 1 : 0), end - 4, exponent);
}

// A format of 16 bits, whose fewest digits are found by trying.
struct Narrow {
  double (*value)(uint16_t bits);
  uint16_t (*bits)(double value);
  uint16_t fraction;
};

constexpr Narrow kHalf = {DoubleFromHalf, HalfFromDouble, 0x3ff};
constexpr Narrow kBfloat = {[](uint16_t bits) { return double{FloatFromBfloat(bits)}; }, BfloatFromDouble, 0x7f};

// Beyond 1e22 they are not exact, which tells in none of the few digits of a bf16.
constexpr auto kPowersOfTen = [] {
  std::array<double, 48> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

double Shifted(double value, int places) {
  return places < 0 ? value / kPowersOfTen[static_cast<size_t>(-places)] : value * kPowersOfTen[static_cast<size_t>(places)];
}

// Of a number that is neither whole and small nor special.
char* PutNarrow(char* at, const Narrow& format, uint16_t bits) {
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

char* Put(char* at, const Narrow& format, uint16_t bits) {
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
