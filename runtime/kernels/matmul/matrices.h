#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/matmul/matmul.h"
#include "runtime/kernels/ref.h"

// The loops around products, whatever multiplies.
namespace wf::kernels::ref {

struct Matrices {
  int64_t m, k, n;
  int64_t a_row, a_col, b_row, b_col;  // strides
  Broadcast<2> batch;                  // over whole matrices: the innermost run is along the last batch axis
  Broadcast<1> sum;                    // of c over the result
};

Matrices MatricesOf(const MatMul& matmul, const Operation& operation);

// An element times a factor that the file gives as f32. U: T, or for integers the unsigned type in which they wrap.
template <typename T, typename U>
U Times(U x, float factor) {
  if (factor == 1) return x;
  if constexpr (std::is_floating_point_v<T>) {
    return x * static_cast<T>(factor);
  } else {
    return static_cast<U>(Saturated<T>(static_cast<double>(static_cast<T>(x)) * static_cast<double>(factor)));
  }
}

// What comes behind the product in `y`, of `count` elements: then(alpha * y + beta * c).
template <typename T, typename U>
void Finish(const Matrices& s, const MatMul& matmul, int64_t count, const U* c, U* y) {
  if (matmul.alpha != 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = Times<T>(y[i], matmul.alpha);
  }
  if (c != nullptr) {
    s.sum.ForEach([&](int64_t out, const auto& offset, const auto& stride, int64_t n) {
      for (int64_t i = 0; i < n; ++i) y[out + i] += Times<T>(c[offset[0] + i * stride[0]], matmul.beta);
    });
  }
  if constexpr (std::is_floating_point_v<T>) Apply(matmul.then, y, count);
}

}  // namespace wf::kernels::ref
