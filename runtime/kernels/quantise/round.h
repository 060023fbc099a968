#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace wf::kernels::ref {

// To an integer type as the contract Quantise says, from what has been divided by the scale.
template <typename T>
T Rounded(float quotient, T zero) {
  if (std::isnan(quotient)) return zero;
  const double whole = static_cast<double>(std::nearbyint(quotient)) + static_cast<double>(zero);
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::lowest()), kHigh = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<T>(std::clamp(whole, kLow, kHigh));
}

}  // namespace wf::kernels::ref
