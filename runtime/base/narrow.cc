#include "runtime/base/narrow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/check.h"
#include "runtime/base/half.h"

namespace wf::base {
namespace {

struct Float {
  int mantissa, bias;   // bits, of the exponent
  float most;           // the largest number
  bool infinite;        // has infinities, all above the numbers is NaN
  bool nan_above;       // the greatest code, or the greatest of a sign, is NaN
  bool without_signed;  // without -0, whose code is NaN
};

Float FloatOf(Narrow format) {
  switch (format) {
    case Narrow::kE4M3FN:
      return {3, 7, 448, false, true, false};
    case Narrow::kE4M3FNUZ:
      return {3, 8, 240, false, false, true};
    case Narrow::kE5M2:
      return {2, 15, 57344, true, false, false};
    case Narrow::kE5M2FNUZ:
      return {2, 16, 57344, false, false, true};
    case Narrow::kE2M1:
      return {1, 1, 6, false, false, false};
    case Narrow::kNone:
    case Narrow::kU4:
    case Narrow::kI4:
      break;
  }
  WF_CHECK(false, static_cast<int>(format));
  return {};
}

double NumberOf(const Float& of, int bits, uint8_t code) {
  const int rest = code & ((1 << (bits - 1)) - 1), mantissa = rest & ((1 << of.mantissa) - 1), exponent = rest >> of.mantissa;
  const bool negative = (code >> (bits - 1) & 1) != 0;
  const double scaled = std::ldexp(exponent == 0 ? mantissa : mantissa + (1 << of.mantissa), std::max(exponent, 1) - of.bias - of.mantissa);
  double number = scaled;
  if (of.infinite && scaled > static_cast<double>(of.most)) number = mantissa == 0 ? HUGE_VAL : std::nan("");
  if ((of.nan_above && rest == (1 << (bits - 1)) - 1) || (of.without_signed && negative && rest == 0)) number = std::nan("");
  return negative ? -number : number;
}

using Table = std::array<uint16_t, 256>;

// Of each code the number as f16.
Table TableOf(Narrow format) {
  Table table{};
  const int bits = format == Narrow::kE2M1 ? 4 : 8;
  for (int code = 0; code < 1 << bits; ++code)
    table[static_cast<size_t>(code)] = HalfFromDouble(NumberOf(FloatOf(format), bits, static_cast<uint8_t>(code)));
  return table;
}

// The code of 4 bits at place i.
uint8_t QuarterAt(const uint8_t* packed, size_t i) { return i % 2 == 0 ? packed[i / 2] & 15 : packed[i / 2] >> 4; }

}  // namespace

void Unpack(Narrow format, std::span<const uint8_t> packed, std::span<uint8_t> out) {
  const bool halves = HolderOf(format) == WF_F16, quarters = format >= Narrow::kU4;
  const size_t count = halves ? out.size() / 2 : out.size();
  WF_CHECK(packed.size() == static_cast<size_t>(PackedBytes(format, static_cast<int64_t>(count))), packed.size(), count);
  const Table table = halves ? TableOf(format) : Table{};
  // An element is read before it is written, and what is written lies before all that is read later.
  for (size_t i = 0; i < count; ++i) {
    const uint8_t code = quarters ? QuarterAt(packed.data(), i) : packed[i];
    if (halves) {
      std::memcpy(out.data() + 2 * i, &table[code], 2);
    } else {
      out[i] = format == Narrow::kI4 && code > 7 ? code | 0xf0 : code;
    }
  }
}

float NearestOf(Narrow format, float x, bool saturates) {
  const Float of = FloatOf(format);
  if (std::isnan(x)) return format == Narrow::kE2M1 ? -0.0f : x;  // which has no NaN
  float near = x;
  if (!std::isinf(x)) {
    const int exponent = x == 0 ? 1 - of.bias : std::max(std::ilogb(x), 1 - of.bias);
    const double step = std::ldexp(1.0, exponent - of.mantissa);
    near = static_cast<float>(std::nearbyint(static_cast<double>(x) / step) * step);
  }
  if (near == 0 && of.without_signed) return 0;
  if (std::abs(near) <= of.most) return near;
  if (saturates || format == Narrow::kE2M1) return std::copysign(of.most, x);
  return of.infinite ? std::copysign(std::numeric_limits<float>::infinity(), x) : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace wf::base
