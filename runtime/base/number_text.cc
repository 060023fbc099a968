#include "runtime/base/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>

#include "runtime/base/dtype.h"
#include "runtime/base/half.h"
#include "runtime/base/load.h"
#include "runtime/base/powers_of_ten.h"

namespace wf::base {
namespace {

// More places behind the point than these are left to the library; a written exponent that is no smaller outweighs all of them.
constexpr int32_t kMostPlaces = 100'000, kMostExponent = 10'000'000;

bool IsDigit(uint8_t c) { return static_cast<uint8_t>(c - '0') < 10; }

// A mantissa and a power of ten that doubles hold exactly give the nearest double in one operation (Clinger, How to Read Floating Point
// Numbers Accurately). False: one of them is too large.
bool DoubleOfFewDigits(const Number& number, double* out) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const bool down = number.exponent < 0;
  const auto power = static_cast<uint32_t>(down ? -number.exponent : number.exponent);
  if (number.mantissa >> std::numeric_limits<double>::digits != 0 || power >= std::size(kPowers)) return false;
  const auto mantissa = static_cast<double>(number.mantissa);
  const double value = down ? mantissa / kPowers[power] : mantissa * kPowers[power];
  *out = number.negative ? -value : value;
  return true;
}

// The nearest double, unless it is subnormal or too large, or the digits do not decide it here: those of the mantissa times the first 128
// bits of the power of ten are rounded, and what the power lacks must not reach a bit that is looked at.
bool NearestDouble(const Number& number, double* out) {
  if (number.overflowed) return false;
  if (number.mantissa == 0) {
    *out = number.negative ? -0.0 : 0.0;
    return true;
  }
  if (number.exponent < kLeastPowerOfTen || number.exponent > kMostPowerOfTen) return false;
  using Wide = unsigned __int128;
  constexpr int kBits = std::numeric_limits<double>::digits, kBias = 1075;
  const PowerOfTen& power = TenTo(number.exponent);
  const int zeros = std::countl_zero(number.mantissa);
  const uint64_t mantissa = number.mantissa << zeros;
  const Wide low = static_cast<Wide>(mantissa) * power.low;
  const Wide high = static_cast<Wide>(mantissa) * power.high + static_cast<uint64_t>(low >> 64);
  const auto top = static_cast<uint64_t>(high >> 64), middle = static_cast<uint64_t>(high);
  const bool exact = IsExactTenTo(number.exponent);
  // An inexact product is above the true one, by less than the mantissa: this is above `top` all the same, or the digits decide nothing, as
  // those of 0.5, 0.25 and all else that a double holds exactly.
  if (!exact && middle == 0 && static_cast<uint64_t>(low) < mantissa) return DoubleOfFewDigits(number, out);
  const bool rest = !exact || middle != 0 || static_cast<uint64_t>(low) != 0;

  const int dropped = 64 - kBits - (top >> 63 == 0 ? 1 : 0);
  const uint64_t kept = top >> dropped, half = UINT64_C(1) << (dropped - 1), below = top & (2 * half - 1);
  const bool up = below > half || (below == half && (rest || (kept & 1) != 0));
  const int exponent = FloorLog2OfTenTo(number.exponent) + 1 - zeros + dropped + kBias;
  if (exponent < 1) return false;
  // The leading bit adds one to the exponent, as a carry out of the mantissa does.
  const uint64_t bits = (static_cast<uint64_t>(exponent - 1) << (kBits - 1)) + kept + (up ? 1 : 0);
  if (bits >= UINT64_C(0x7ff) << (kBits - 1)) return false;
  *out = std::bit_cast<double>(bits | (number.negative ? UINT64_C(1) << 63 : 0));
  return true;
}

// Is a number that from_chars calls out of range too large, rather than too small?
bool IsHuge(const Number& number) {
  int64_t power = -1;  // of the first digit that is not zero
  bool fraction = false, seen = false;
  const uint8_t* at = number.begin + (number.negative ? 1 : 0);
  for (; at < number.end && *at != 'e' && *at != 'E'; ++at) {
    if (*at == '.') {
      fraction = true;
    } else if (!seen && *at == '0') {
      if (fraction) --power;
    } else {
      seen = true;
      if (!fraction) ++power;
    }
  }
  if (at == number.end) return power >= 0;
  ++at;
  const bool down = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  int64_t exponent = 0;
  for (; at < number.end && exponent < INT64_C(1'000'000'000'000); ++at) exponent = exponent * 10 + (*at - '0');
  return power + (down ? -exponent : exponent) >= 0;
}

template <typename T>
Stored SlowFloat(const Number& number, T* out) {
  const auto* begin = reinterpret_cast<const char*>(number.begin);
  const auto result = std::from_chars(begin, reinterpret_cast<const char*>(number.end), *out);
  if (result.ec == std::errc()) return std::isinf(*out) ? Stored::kOutOfRange : Stored::kOk;
  if (IsHuge(number)) return Stored::kOutOfRange;
  *out = number.negative ? T(-0.0) : T(0);
  return Stored::kOk;
}

const uint8_t* ScanDigitsOneByOne(const uint8_t* at, const uint8_t* end, uint64_t mantissa, Number* number) {
  for (; at < end && IsDigit(*at); ++at) {
    const uint64_t digit = *at - uint64_t{'0'};
    if (mantissa > (std::numeric_limits<uint64_t>::max() - 9) / 10) [[unlikely]] {
      if (__builtin_mul_overflow(mantissa, UINT64_C(10), &mantissa) || __builtin_add_overflow(mantissa, digit, &mantissa))
        number->overflowed = true;
    } else {
      mantissa = mantissa * 10 + digit;
    }
  }
  number->mantissa = mantissa;
  return at;
}

// The number of eight digits, a byte each and the first in the lowest: ones, twos and fours are joined side by side.
uint64_t EightDigits(uint64_t digits) {
  const uint64_t twos = (digits * 10 + (digits >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
  const uint64_t fours = (twos * 100 + (twos >> 16)) & UINT64_C(0x0000ffff0000ffff);
  return (fours * 10'000 + (fours >> 32)) & UINT64_C(0xffffffff);
}

constexpr uint64_t kTenTo[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
// The most that so many digits may follow.
constexpr auto kMostBefore = [] {
  std::array<uint64_t, std::size(kTenTo)> most{};
  for (size_t i = 0; i < most.size(); ++i) most[i] = (std::numeric_limits<uint64_t>::max() - (kTenTo[i] - 1)) / kTenTo[i];
  return most;
}();

// Eight bytes at a time, as long as a mantissa has room for their digits: where a number ends among them costs no branch.
const uint8_t* ScanDigits(const uint8_t* at, const uint8_t* end, Number* number) {
  constexpr uint64_t kZeros = UINT64_C(0x3030303030303030), kLeft = UINT64_C(0xf0f0f0f0f0f0f0f0), kSix = UINT64_C(0x0606060606060606);
  uint64_t mantissa = number->mantissa;
  while (end - at >= 8) {
    const auto bytes = Load<uint64_t>(at);
    // A carry of the sum reaches only bytes behind the first that is no digit.
    const uint64_t others = ((bytes ^ kZeros) | ((bytes + kSix) ^ kZeros)) & kLeft;
    const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
    if (mantissa > kMostBefore[static_cast<size_t>(count)]) [[unlikely]]
      break;
    const uint64_t digits = count == 0 ? 0 : (bytes - kZeros) << (64 - 8 * count);  // of bytes behind them nothing is left
    mantissa = mantissa * kTenTo[count] + EightDigits(digits);
    at += count;
    if (count == 8) continue;
    number->mantissa = mantissa;
    return at;
  }
  return ScanDigitsOneByOne(at, end, mantissa, number);
}

}  // namespace

bool ScanNumber(const uint8_t* at, const uint8_t* end, Number* number) {
  *number = {.begin = at, .end = at, .mantissa = 0, .exponent = 0, .negative = false, .integer = true, .overflowed = false};
  if (at < end && *at == '-') {
    number->negative = true;
    ++at;
  }
  if (at == end || !IsDigit(*at)) return false;
  if (*at == '0' && at + 1 < end && IsDigit(at[1])) return false;
  at = ScanDigits(at, end, number);
  if (at < end && *at == '.') {
    const uint8_t* fraction = ++at;
    at = ScanDigits(at, end, number);
    if (at == fraction) return false;
    number->integer = false;
    const ptrdiff_t digits = at - fraction;
    number->exponent = digits < kMostPlaces ? -static_cast<int32_t>(digits) : 0;
    number->overflowed |= digits >= kMostPlaces;
  }
  if (at < end && (*at | 0x20) == 'e') {
    ++at;
    const bool down = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) ++at;
    const uint8_t* first = at;
    int32_t exponent = 0;
    for (; at < end && IsDigit(*at); ++at) exponent = exponent < kMostExponent ? exponent * 10 + (*at - '0') : exponent;
    if (at == first) return false;
    number->integer = false;
    number->exponent += down ? -exponent : exponent;
  }
  number->end = at;
  return true;
}

std::string_view NumberProblem(const uint8_t* at, const uint8_t* end) {
  const auto skip_digits = [&at, end] {
    while (at < end && IsDigit(*at)) ++at;
  };
  const auto digit_follows = [&at, end] { return at < end && IsDigit(*at); };
  const bool minus = at < end && *at == '-';
  if (minus) ++at;
  if (!digit_follows()) return minus ? "a digit must follow the `-` of a number" : "";
  if (*at == '0' && at + 1 < end && IsDigit(at[1])) return "a number must not begin with `0` before other digits";
  skip_digits();
  if (at < end && *at == '.') {
    ++at;
    if (!digit_follows()) return "a digit must follow the `.` of a number";
    skip_digits();
  }
  if (at == end || (*at | 0x20) != 'e') return {};
  ++at;
  if (at < end && (*at == '-' || *at == '+')) ++at;
  return digit_follows() ? "" : "a digit must follow the `e` of a number";
}

template <typename T>
Stored StoreInteger(const Number& number, T* out) {
  if (!number.integer) return Stored::kNotInteger;
  if (number.overflowed) return Stored::kOutOfRange;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<T>::max());
  if (!number.negative) {
    if (number.mantissa > kMax) return Stored::kOutOfRange;
    *out = static_cast<T>(number.mantissa);
    return Stored::kOk;
  }
  constexpr uint64_t kMin = std::numeric_limits<T>::is_signed ? kMax + 1 : 0;
  if (number.mantissa > kMin) return Stored::kOutOfRange;
  *out = static_cast<T>(UINT64_C(0) - number.mantissa);
  return Stored::kOk;
}
template Stored StoreInteger<int8_t>(const Number&, int8_t*);
template Stored StoreInteger<int16_t>(const Number&, int16_t*);
template Stored StoreInteger<int32_t>(const Number&, int32_t*);
template Stored StoreInteger<int64_t>(const Number&, int64_t*);
template Stored StoreInteger<uint8_t>(const Number&, uint8_t*);
template Stored StoreInteger<uint16_t>(const Number&, uint16_t*);
template Stored StoreInteger<uint32_t>(const Number&, uint32_t*);
template Stored StoreInteger<uint64_t>(const Number&, uint64_t*);

Stored StoreDouble(const Number& number, double* out) {
  if (NearestDouble(number, out)) return Stored::kOk;
  return SlowFloat(number, out);
}

// The nearest double decides the nearest float unless it lies exactly half way between two floats (or near the subnormal ones).
Stored StoreFloat(const Number& number, float* out) {
  double value = 0;
  if (!NearestDouble(number, &value)) return SlowFloat(number, out);
  constexpr uint64_t kDropped = (UINT64_C(1) << 29) - 1;
  constexpr uint64_t kHalfWay = UINT64_C(1) << 28;
  const double magnitude = std::fabs(value);
  const bool zero = magnitude == 0;
  if ((std::bit_cast<uint64_t>(value) & kDropped) == kHalfWay || (!zero && magnitude < 2 * double{std::numeric_limits<float>::min()}))
    return SlowFloat(number, out);
  *out = static_cast<float>(value);
  return std::isinf(*out) ? Stored::kOutOfRange : Stored::kOk;
}

namespace {

// The digits of a positive decimal from the first that is not 0 on, and the power of ten of that digit. No digits: 0.
struct WrittenDecimal {
  std::string digits;
  int64_t power = -1;
};

WrittenDecimal ReadWritten(const char* at, const char* end) {
  WrittenDecimal decimal;
  bool fraction = false;
  for (; at < end && *at != 'e' && *at != 'E'; ++at) {
    if (*at == '.') {
      fraction = true;
      continue;
    }
    if (!decimal.digits.empty() || *at != '0') decimal.digits += *at;
    if (fraction && decimal.digits.empty()) --decimal.power;
    if (!fraction && !decimal.digits.empty()) ++decimal.power;
  }
  int64_t exponent = 0;
  if (at < end) std::from_chars(at + (at[1] == '+' ? 2 : 1), end, exponent);
  decimal.power += exponent;
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  return decimal;
}

// Below 0: the double is less than what the text says, exactly; above 0: it is more. REQUIRES: neither is 0, and the double is near the
// text.
int CompareWithText(double value, const Number& number) {
  char text[1100];
  constexpr int kAllDigits = 770;  // of a double
  const double magnitude = std::fabs(value);
  const char* end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific, kAllDigits).ptr;
  const auto* begin = reinterpret_cast<const char*>(number.begin) + (number.negative ? 1 : 0);
  const WrittenDecimal exact = ReadWritten(text, end), told = ReadWritten(begin, reinterpret_cast<const char*>(number.end));
  const int order = exact.power != told.power ? (exact.power < told.power ? -1 : 1) : exact.digits.compare(told.digits);
  return number.negative ? -order : order;
}

template <typename T, typename Value>
void StoreBytes(void* out, Value value) {
  const T stored = static_cast<T>(value);
  std::memcpy(out, &stored, sizeof stored);
}

// Of a double that lies half way between two values of the type, the text decides, which may lie beside it.
uint16_t NearestHalf(double value, const Number& number, uint32_t dtype) {
  const auto narrow = [dtype](double wide) { return dtype == WF_F16 ? HalfFromDouble(wide) : BfloatFromDouble(wide); };
  const auto widen = [dtype](uint16_t bits) -> double { return dtype == WF_F16 ? DoubleFromHalf(bits) : FloatFromBfloat(bits); };
  const uint16_t bits = narrow(value);
  const double nearest = widen(bits), as_far = value + (value - nearest);
  if (as_far == nearest || widen(narrow(as_far)) != as_far) [[likely]]
    return bits;
  const int order = CompareWithText(value, number);
  return order == 0 ? bits : narrow(std::nextafter(value, order > 0 ? -HUGE_VAL : HUGE_VAL));
}

template <typename T>
Stored StoreIntegerBytes(const Number& number, void* out) {
  T value{};
  const Stored stored = StoreInteger(number, &value);
  if (stored == Stored::kOk) std::memcpy(out, &value, sizeof value);
  return stored;
}

Stored StoreFloatBytes(const Number& number, uint32_t dtype, void* out) {
  if (dtype == WF_F32) {
    float value = 0;
    const Stored stored = StoreFloat(number, &value);
    if (stored == Stored::kOk) StoreBytes<float>(out, value);
    return stored;
  }
  double value = 0;
  const Stored stored = StoreDouble(number, &value);
  if (stored != Stored::kOk) return stored;
  if (dtype == WF_F64) {
    StoreBytes<double>(out, value);
    return stored;
  }
  const uint16_t bits = NearestHalf(value, number, dtype);
  const uint16_t infinity = dtype == WF_F16 ? 0x7c00 : 0x7f80;
  if ((bits & 0x7fff) == infinity) return Stored::kOutOfRange;
  StoreBytes<uint16_t>(out, bits);
  return stored;
}

}  // namespace

Stored StoreNumber(const Number& number, uint32_t dtype, void* out) {
  switch (dtype) {
    case WF_I8:
      return StoreIntegerBytes<int8_t>(number, out);
    case WF_I16:
      return StoreIntegerBytes<int16_t>(number, out);
    case WF_I32:
      return StoreIntegerBytes<int32_t>(number, out);
    case WF_I64:
      return StoreIntegerBytes<int64_t>(number, out);
    case WF_U8:
      return StoreIntegerBytes<uint8_t>(number, out);
    case WF_U16:
      return StoreIntegerBytes<uint16_t>(number, out);
    case WF_U32:
      return StoreIntegerBytes<uint32_t>(number, out);
    case WF_U64:
      return StoreIntegerBytes<uint64_t>(number, out);
    default:
      return StoreFloatBytes(number, dtype, out);
  }
}

}  // namespace wf::base
