#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// By elimination, each time below the largest element of a column. Destroys the matrix.
double Determinant(double* a, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      product = -product;
    }
    const double diagonal = a[k * n + k];
    product *= diagonal;
    if (diagonal == 0) return product;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / diagonal;
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeDet(const Operation& operation) {
  const int64_t n = operation.in[0].dim.back(), count = operation.out[0].count();
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [n, count](const Buffers& b) -> const char* {
      double* matrix = static_cast<double*>(b.scratch);
      for (int64_t i = 0; i < count; ++i) {
        const T* x = static_cast<const T*>(b.in[0]) + i * n * n;
        std::copy(x, x + n * n, matrix);
        static_cast<T*>(b.out[0])[i] = static_cast<T>(Determinant(matrix, n));
      }
      return nullptr;
    });
    kernel->scratch_bytes = n * n * static_cast<int64_t>(sizeof(double));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
