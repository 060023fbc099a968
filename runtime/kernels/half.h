#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

// Floats of 16 bits as stored, and their numbers. Rounding is to the nearest, ties to even; NaN stays NaN, and what is too large becomes
// infinite. Without branches, so that loops over them become vector code.
namespace wf::kernels {

struct Half {  // f16
  uint16_t bits;
};
struct Brain {  // bf16
  uint16_t bits;
};

inline float ToFloat(Brain x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }

inline float ToFloat(Half x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16, rest = x.bits & 0x7fff;
  // Scaled by the difference of the exponents' biases, which makes normal numbers of denormal ones, too.
  const uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f);
  return std::bit_cast<float>(sign | bits | (rest >= 0x7c00 ? 0x7f800000u : 0u));
}

inline Brain ToBrain(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return {static_cast<uint16_t>(nan ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline Half ToHalf(float x) {
  constexpr uint32_t kInfinite = 0x7f800000, kTooLarge = 0x477ff000, kNormal = 0x38800000;  // 65520, 2^-14
  const uint32_t all = std::bit_cast<uint32_t>(x), bits = all & 0x7fffffff;
  const uint32_t normal = (bits + 0xc8000fff + (bits >> 13 & 1)) >> 13;                           // with the other bias, rounded
  const uint32_t tiny = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) + 0.5f) - 0x3f000000;  // the sum rounds to 2^-24
  const uint32_t large = bits > kInfinite ? 0x7e00 : 0x7c00;
  return {static_cast<uint16_t>((all >> 16 & 0x8000) | (bits >= kTooLarge ? large : bits < kNormal ? tiny : normal))};
}

// Rounded to odd: what is rounded again, to 13 bits fewer and more, comes out as if it were rounded once.
inline float ToOddFloat(double x) {
  const float near = static_cast<float>(x);
  const double back = static_cast<double>(near);
  if (back == x || std::isnan(x) || std::isinf(near)) return near;
  const uint32_t bits = std::bit_cast<uint32_t>(near);
  return std::bit_cast<float>((std::abs(back) > std::abs(x) ? bits - 1 : bits) | 1);
}

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

// A float of 16 bits from any number of C++.
template <typename To, typename From>
To ToNarrow(From x) {
  float near;
  if constexpr (sizeof(From) < 4 || std::is_same_v<From, float>) {
    near = static_cast<float>(x);
  } else {
    near = ToOddFloat(static_cast<double>(x));
  }
  if constexpr (std::is_same_v<To, Half>) {
    return ToHalf(near);
  } else {
    return ToBrain(near);
  }
}

}  // namespace wf::kernels
