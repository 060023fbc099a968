#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename T>
void Row(const T* x, T* y, int64_t n, int64_t stride, bool log) {
  T high = x[0];
  for (int64_t i = 1; i < n; ++i) high = std::max(high, x[i * stride]);
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T shifted = x[i * stride] - high;
    const T power = std::exp(shifted);
    sum += power;
    y[i * stride] = log ? shifted : power;
  }
  const T scale = log ? std::log(sum) : 1 / sum;
  for (int64_t i = 0; i < n; ++i) y[i * stride] = log ? y[i * stride] - scale : y[i * stride] * scale;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeSoftmax(const Operation& operation) {
  const Softmax& softmax = std::get<Softmax>(operation.params);
  const std::vector<int64_t>& dim = operation.in[0].dim;
  int64_t outer = 1, n = 1, inner = 1;
  for (size_t i = 0; i < dim.size(); ++i) (i < softmax.begin ? outer : i < softmax.end ? n : inner) *= dim[i];
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(
        1,
        [outer, n, inner, log = softmax.log](const Buffers& b) -> const char* {
          const T* x = static_cast<const T*>(b.in[0]);
          T* y = static_cast<T*>(b.out[0]);
          for (int64_t o = 0; n > 0 && o < outer; ++o) {
            for (int64_t i = 0; i < inner; ++i) Row(x + o * n * inner + i, y + o * n * inner + i, n, inner, log);
          }
          return nullptr;
        },
        true);
  });
}

}  // namespace wf::kernels::ref
