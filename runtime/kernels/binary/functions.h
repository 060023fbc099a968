#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/binary/binary.h"

// The functions of two numbers of one type, and loops over them, for the contracts that share them.
namespace wf::kernels::ref::of_two {

// One side of a run: its elements one behind the other, or one element for all.
template <typename T>
struct Side {
  const T* at;
  int64_t stride;  // 1 or 0
};

// Runs with strides known to the compiler, so that the common cases become vector code.
template <typename A, typename B, typename Out, typename F>
void Each(Side<A> a, Side<B> b, Out* out, int64_t n, F f) {
  if (a.stride == 1 && b.stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = f(a.at[i], b.at[i]);
  } else if (a.stride == 1) {
    const B right = *b.at;
    for (int64_t i = 0; i < n; ++i) out[i] = f(a.at[i], right);
  } else if (b.stride == 1) {
    const A left = *a.at;
    for (int64_t i = 0; i < n; ++i) out[i] = f(left, b.at[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = f(*a.at, *b.at);
  }
}

// Wraps for integers: computed unsigned, 64 bits wide so that small types do not pass through int.
template <typename T, typename F>
auto Wrapping(F f) {
  return [f](T a, T b) -> T {
    if constexpr (std::is_floating_point_v<T>) {
      return f(a, b);
    } else {
      return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    }
  };
}

template <typename T>
struct Sum {
  T operator()(T a, T b) const {
    return Wrapping<T>([](auto x, auto y) { return x + y; })(a, b);
  }
};
template <typename T>
struct Difference {
  T operator()(T a, T b) const {
    return Wrapping<T>([](auto x, auto y) { return x - y; })(a, b);
  }
};
template <typename T>
struct Times {
  T operator()(T a, T b) const {
    return Wrapping<T>([](auto x, auto y) { return x * y; })(a, b);
  }
};

template <typename T>
struct Divide {
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return 0;
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Difference<T>()(0, a);  // of the lowest, which has no positive
      return static_cast<T>(a / b);
    }
  }
};

template <typename T>
struct Remainder {  // with the sign of a
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(a, b);
    } else {
      return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? T(0) : static_cast<T>(a % b);
    }
  }
};

template <typename T>
struct Modulo {  // with the sign of b
  T operator()(T a, T b) const {
    const T rest = Remainder<T>()(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
  }
};

template <typename T>
struct Larger {
  T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};
template <typename T>
struct Smaller {
  T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};

template <typename T>
struct Slope {
  T operator()(T a, T b) const { return a < 0 ? Times<T>()(a, b) : a; }
};

}  // namespace wf::kernels::ref::of_two
