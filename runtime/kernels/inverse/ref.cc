#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// By elimination, each time around the largest element that is left of a column. `a` [n, 2n] has the matrix and, beside it, the unit
// matrix; then the inverse is there.
void Eliminate(double* a, int64_t n) {
  const int64_t width = 2 * n;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::abs(a[i * width + k]) > std::abs(a[pivot * width + k])) pivot = i;
    }
    double* const line = a + k * width;
    if (pivot != k) std::swap_ranges(line, line + width, a + pivot * width);
    const double diagonal = line[k];
    for (int64_t j = 0; j < width; ++j) line[j] /= diagonal;
    for (int64_t i = 0; i < n; ++i) {
      const double factor = a[i * width + k];
      for (int64_t j = 0; i != k && j < width; ++j) a[i * width + j] -= factor * line[j];
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeInverse(const Operation& operation) {
  const int64_t n = operation.in[0].dim.back(), count = n == 0 ? 0 : operation.in[0].count() / (n * n);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [n, count](const Buffers& b) -> const char* {
      double* const both = static_cast<double*>(b.scratch);
      for (int64_t matrix = 0; matrix < count; ++matrix) {
        const T* const x = static_cast<const T*>(b.in[0]) + matrix * n * n;
        T* const y = static_cast<T*>(b.out[0]) + matrix * n * n;
        for (int64_t i = 0; i < n; ++i) {
          std::copy_n(x + i * n, n, both + 2 * i * n);
          for (int64_t j = 0; j < n; ++j) both[(2 * i + 1) * n + j] = i == j ? 1 : 0;
        }
        Eliminate(both, n);
        for (int64_t i = 0; i < n * n; ++i) y[i] = static_cast<T>(both[(2 * (i / n) + 1) * n + i % n]);
      }
      return nullptr;
    });
    kernel->scratch_bytes = 2 * n * n * static_cast<int64_t>(sizeof(double));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
