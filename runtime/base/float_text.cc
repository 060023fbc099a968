#include "runtime/base/float_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace wf::base {
namespace {

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

template <typename T>
char* Put(char* at, T value) {
  constexpr std::string_view kMinusZero = "-0.0";  // `-0` is an integer to many readers, which has no sign
  if (value == 0 && std::signbit(value)) return std::copy(kMinusZero.begin(), kMinusZero.end(), at);
  constexpr T kManyWhole = 1e6;  // counts, labels, zeros: the same text, sooner
  if (std::abs(value) < kManyWhole && value == std::trunc(value))
    return std::to_chars(at, at + kMostFloatText, static_cast<int32_t>(value)).ptr;
  char* const end = std::to_chars(at, at + kMostFloatText, value).ptr;
  if (end - at < 5 || end[-4] != 'e') return end;
  const int places = (end[-2] - '0') * 10 + end[-1] - '0', exponent = end[-3] == '-' ? -places : places;
  return exponent < -4 || exponent > 15 ? end : PutPlaces(at + (*at == '-' ? 1 : 0), end - 4, exponent);
}

}  // namespace

char* PutFloat(char* at, float value) { return Put(at, value); }
char* PutFloat(char* at, double value) { return Put(at, value); }

}  // namespace wf::base
