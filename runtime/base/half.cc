#include "runtime/base/half.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace wf::base {
namespace {

// Rounds to a binary format of `digits` significant bits (the hidden one included) and least exponent `least`, by the nearest-even rule of
// the adder: adding and subtracting 2^k drops what lies below the last kept bit.
double RoundToFormat(double value, int digits, int least) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), least);
  const double step = std::ldexp(1.0, exponent - digits + 1);
  return std::nearbyint(value / step) * step;
}

}  // namespace

uint16_t HalfFromDouble(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  const double magnitude = std::fabs(RoundToFormat(value, 11, -14));
  if (magnitude > 65504.0) return sign | 0x7c00;
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(magnitude * 0x1p24);
  const int exponent = std::ilogb(magnitude);
  const auto fraction = static_cast<uint16_t>(std::ldexp(magnitude, 10 - exponent) - 1024.0);
  return static_cast<uint16_t>(sign | ((exponent + 15) << 10) | fraction);
}

double DoubleFromHalf(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    magnitude = exponent == 0 ? fraction * 0x1p-24 : std::ldexp(1024.0 + fraction, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

uint16_t BfloatFromDouble(double value) {
  if (std::isnan(value)) return static_cast<uint16_t>((std::signbit(value) ? 0x8000 : 0) | 0x7fc0);
  const double rounded = RoundToFormat(value, 8, -126);
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(rounded)) >> 16);
}

float FloatFromBfloat(uint16_t bfloat) { return std::bit_cast<float>(static_cast<uint32_t>(bfloat) << 16); }

}  // namespace wf::base
