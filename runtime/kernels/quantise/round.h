#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace wf::kernels::ref {

// To an integer type, or its numbers from `low` to `high`, as the contract Quantise says, from what has been divided by the scale.
template <typename T>
T Rounded(float quotient, T zero, double low = std::numeric_limits<T>::lowest(), double high = std::numeric_limits<T>::max()) {
  if (std::isnan(quotient)) return zero;
  const double whole = static_cast<double>(std::nearbyint(quotient)) + static_cast<double>(zero);
  return static_cast<T>(std::clamp(whole, low, high));
}

}  // namespace wf::kernels::ref
