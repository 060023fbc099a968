#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {

base::Result<std::unique_ptr<Kernel>> MakeBatchNorm(const Operation& operation) {
  const std::vector<int64_t>& dim = operation.in[0].dim;
  int64_t inner = 1;
  for (size_t i = 2; i < dim.size(); ++i) inner *= dim[i];
  const double epsilon = static_cast<double>(std::get<BatchNorm>(operation.params).epsilon);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(
        5,
        [n = dim[0], c = dim[1], inner, epsilon](const Buffers& b) -> const char* {
          const T *x = static_cast<const T*>(b.in[0]), *scale = static_cast<const T*>(b.in[1]), *shift = static_cast<const T*>(b.in[2]);
          const T *mean = static_cast<const T*>(b.in[3]), *variance = static_cast<const T*>(b.in[4]);
          T* y = static_cast<T*>(b.out[0]);
          for (int64_t row = 0; row < n * c; ++row) {
            const int64_t k = row % c;
            const T factor = static_cast<T>(static_cast<double>(scale[k]) / std::sqrt(static_cast<double>(variance[k]) + epsilon));
            for (int64_t i = 0; i < inner; ++i, ++x) *y++ = (*x - mean[k]) * factor + shift[k];
          }
          return nullptr;
        },
        true);
  });
}

}  // namespace wf::kernels::ref
