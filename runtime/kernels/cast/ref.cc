#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// 16-bit floats as stored.
struct Half {
  uint16_t bits;
};
struct Brain {
  uint16_t bits;
};

float ToFloat(Brain x) {
  const uint32_t wide = static_cast<uint32_t>(x.bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}

float ToFloat(Half x) {
  const int exponent = x.bits >> 10 & 31, mantissa = x.bits & 1023;
  const float sign = (x.bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  return sign *
         (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24) : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25));
}

Brain ToBrain(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if (std::isnan(x)) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

Half ToHalf(float x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return {static_cast<uint16_t>(sign | 0x7e00)};
  const float size = std::abs(x);
  if (size >= 65520.0f) return {static_cast<uint16_t>(sign | 0x7c00)};
  int exponent = 0;
  std::frexp(size, &exponent);                                    // size is below 2^exponent
  const int unit = std::max(exponent - 11, -24);                  // of the last place
  const float rounded = std::nearbyint(std::ldexp(size, -unit));  // ties to even
  if (rounded == 0) return {sign};
  // 1024..2047 is a full mantissa, 2048 carries into the exponent, below 1024 is denormal: addition does all three.
  const uint16_t bits = static_cast<uint16_t>(rounded >= 1024 ? (unit + 24) * 1024 + static_cast<int>(rounded) : static_cast<int>(rounded));
  return {static_cast<uint16_t>(sign | bits)};
}

template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, Brain>) {
    return Convert<To>(ToFloat(x));
  } else if constexpr (std::is_same_v<To, Half>) {
    return ToHalf(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, Brain>) {
    return ToBrain(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return Saturated<To>(static_cast<double>(x));
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
std::unique_ptr<Kernel> Make(int64_t n) {
  return MakeFunction(1, [n](const Buffers& b) -> const char* {
    const From* x = static_cast<const From*>(b.in[0]);
    To* y = static_cast<To*>(b.out[0]);
    for (int64_t i = 0; i < n; ++i) y[i] = Convert<To>(x[i]);
    return nullptr;
  });
}

template <typename F>
std::unique_ptr<Kernel> ForAny(uint8_t dtype, F f) {
  if (dtype == WF_F16) return f.template operator()<Half>();
  if (dtype == WF_BF16) return f.template operator()<Brain>();
  return ForType<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, float, double>(dtype, f);
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeCast(const Operation& operation) {
  return ForAny(operation.in[0].dtype, [&]<typename From>() {
    return ForAny(operation.out[0].dtype, [&]<typename To>() { return Make<From, To>(operation.out[0].count()); });
  });
}

}  // namespace wf::kernels::ref
