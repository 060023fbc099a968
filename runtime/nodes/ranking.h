#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/abi/values.h"

namespace wf::nodes {

// Storage types as elements that convert to float.
struct Bfloat16 {
  uint16_t bits;
  operator float() const {
    return std::bit_cast<float>(uint32_t{bits} << 16);
  }  // NOLINT: implicit, so that comparisons read as for numbers
};
struct Float16 {
  uint16_t bits;
  operator float() const {  // NOLINT: as above
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float size;
    if (exponent == 31) {
      size = mantissa != 0 ? NAN : INFINITY;
    } else {
      size = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24) : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -size : size;
  }
};

// The one order of top_k and argmax: larger first, equal values by lower index, NaN after all numbers.
template <typename T>
struct Ranking {
  const T* x;

  bool operator()(int64_t a, int64_t b) const {
    const T& left = x[a];
    const T& right = x[b];
    if constexpr (!std::is_integral_v<T>) {
      const bool left_is_nan = left != left, right_is_nan = right != right;
      if (left_is_nan != right_is_nan) return right_is_nan;
      if (left_is_nan) return a < b;
    }
    return left > right || (!(right > left) && a < b);
  }
};

// The ascending order of argsort and searchsorted: NaN after all numbers.
template <typename T>
bool IsBelow(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    return a < b || (b != b && a == a);
  }
}

// Calls visit(const T*) with the element type of a tensor of numbers or bools, which are 0 and 1; false for other dtypes.
template <typename Visit>
bool VisitElements(const wf_tensor& x, const Visit& visit) {
  switch (x.dtype) {
    case WF_I8:
      visit(static_cast<const int8_t*>(x.data));
      return true;
    case WF_I16:
      visit(static_cast<const int16_t*>(x.data));
      return true;
    case WF_I32:
      visit(static_cast<const int32_t*>(x.data));
      return true;
    case WF_I64:
      visit(static_cast<const int64_t*>(x.data));
      return true;
    case WF_BOOL:
    case WF_U8:
      visit(static_cast<const uint8_t*>(x.data));
      return true;
    case WF_U16:
      visit(static_cast<const uint16_t*>(x.data));
      return true;
    case WF_U32:
      visit(static_cast<const uint32_t*>(x.data));
      return true;
    case WF_U64:
      visit(static_cast<const uint64_t*>(x.data));
      return true;
    case WF_F16:
      visit(static_cast<const Float16*>(x.data));
      return true;
    case WF_BF16:
      visit(static_cast<const Bfloat16*>(x.data));
      return true;
    case WF_F32:
      visit(static_cast<const float*>(x.data));
      return true;
    case WF_F64:
      visit(static_cast<const double*>(x.data));
      return true;
    default:
      return false;
  }
}

}  // namespace wf::nodes
