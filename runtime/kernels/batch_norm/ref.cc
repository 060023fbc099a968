#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

struct Channels {
  int64_t n, c, inner;
};

template <typename T>
T* OutOf(const Buffers& b, size_t i) {
  return i < b.out.size() ? static_cast<T*>(b.out[i]) : nullptr;
}

template <typename T>
void Normalise(const Channels& s, double epsilon, const Buffers& b, const T* mean, const T* variance) {
  const T *x = static_cast<const T*>(b.in[0]), *scale = static_cast<const T*>(b.in[1]), *shift = static_cast<const T*>(b.in[2]);
  T* y = static_cast<T*>(b.out[0]);
  for (int64_t row = 0; row < s.n * s.c; ++row) {
    const int64_t k = row % s.c;
    const T factor = static_cast<T>(static_cast<double>(scale[k]) / std::sqrt(static_cast<double>(variance[k]) + epsilon));
    for (int64_t i = 0; i < s.inner; ++i, ++x) *y++ = (*x - mean[k]) * factor + shift[k];
  }
}

// Mean and variance of channel k of x.
template <typename T>
void Measure(const Channels& s, const T* x, int64_t k, double& mean, double& variance) {
  const double count = static_cast<double>(s.n * s.inner);
  const auto for_each = [&](auto f) {
    for (int64_t n = 0; n < s.n; ++n) {
      const T* from = x + (n * s.c + k) * s.inner;
      for (int64_t i = 0; i < s.inner; ++i) f(static_cast<double>(from[i]));
    }
  };
  mean = variance = 0;
  for_each([&](double value) { mean += value; });
  mean /= count;
  for_each([&](double value) { variance += (value - mean) * (value - mean); });
  variance /= count;
}

template <typename T>
void Train(const Channels& s, const BatchNorm& norm, const Buffers& b) {
  T *means = static_cast<T*>(b.scratch), *variances = means + s.c;
  const double momentum = static_cast<double>(norm.momentum);
  const auto blend = [&](T* out, const void* given, int64_t k, double measured) {
    if (out != nullptr)
      out[k] = static_cast<T>(static_cast<double>(static_cast<const T*>(given)[k]) * momentum + measured * (1 - momentum));
  };
  for (int64_t k = 0; k < s.c; ++k) {
    double mean = 0, variance = 0;
    Measure(s, static_cast<const T*>(b.in[0]), k, mean, variance);
    means[k] = static_cast<T>(mean);
    variances[k] = static_cast<T>(variance);
    blend(OutOf<T>(b, 1), b.in[3], k, mean);
    blend(OutOf<T>(b, 2), b.in[4], k, variance);
    if (T* saved = OutOf<T>(b, 3)) saved[k] = means[k];
    if (T* saved = OutOf<T>(b, 4)) saved[k] = variances[k];
  }
  Normalise<T>(s, static_cast<double>(norm.epsilon), b, means, variances);
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeBatchNorm(const Operation& operation) {
  const std::vector<int64_t>& dim = operation.in[0].dim;
  const BatchNorm norm = std::get<BatchNorm>(operation.params);
  Channels channels{dim[0], dim[1], 1};
  for (size_t i = 2; i < dim.size(); ++i) (norm.each ? channels.c : channels.inner) *= dim[i];
  for (size_t i = 1; i < 5; ++i) {
    if (operation.in[i].dtype != operation.in[0].dtype) return std::unique_ptr<Kernel>();
  }
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(
        5,
        [channels, norm](const Buffers& b) -> const char* {
          if (norm.training) {
            Train<T>(channels, norm, b);
          } else {
            Normalise<T>(channels, static_cast<double>(norm.epsilon), b, static_cast<const T*>(b.in[3]), static_cast<const T*>(b.in[4]));
          }
          return nullptr;
        },
        !norm.training);
    if (norm.training) kernel->scratch_bytes = 2 * channels.c * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
