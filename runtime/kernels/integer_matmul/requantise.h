#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/kernels/integer_matmul/integer_matmul.h"

// From sums of products of 8-bit integers back to 8 bits, as the contracts for such products share it.
namespace wf::kernels::ref {

// The scale and zero point of what sums become.
template <typename T>
struct Target {
  float scale = 1;
  T zero = 0;
  Within within = {};
};

// factor: of the two that were multiplied.
template <typename T>
T Requantised(int32_t sum, float factor, const Target<T>& y) {
  const double scaled = static_cast<double>(sum) * static_cast<double>(factor / y.scale);
  if (std::isnan(scaled)) return y.zero;
  const double held = std::clamp(scaled, static_cast<double>(y.within.low / y.scale), static_cast<double>(y.within.high / y.scale));
  const double whole = std::nearbyint(held) + static_cast<double>(y.zero);
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::lowest()), kHigh = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(whole, kLow, kHigh));
}

// sum + a * b, wrapping
inline int32_t AddProduct(int32_t sum, int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

// Of a parameter that is one for all or one for each index.
template <typename T>
T ValueAt(const T* values, bool many, int64_t i, T otherwise) {
  return values == nullptr ? otherwise : values[many ? i : 0];
}

}  // namespace wf::kernels::ref
