#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename T, typename F>
void Rows(int64_t count, int64_t n, const Buffers& b, F f) {
  const T* x = static_cast<const T*>(b.in[0]);
  const T* bias = b.in.size() > 1 ? static_cast<const T*>(b.in[1]) : nullptr;
  T* y = static_cast<T*>(b.out[0]);
  if (bias == nullptr) {
    for (int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
    return;
  }
  for (int64_t row = 0; row < count; row += n) {
    for (int64_t i = 0; i < n; ++i) y[row + i] = f(x[row + i] + bias[i]);
  }
}

template <typename T>
void Run(const BiasGelu& gelu, int64_t count, int64_t n, const Buffers& b) {
  const T half = static_cast<T>(0.5);
  switch (gelu.kind) {
    case BiasGelu::Kind::kErf:
      return Rows<T>(count, n, b, [half](T v) { return half * v * (1 + std::erf(v * static_cast<T>(std::numbers::sqrt2 / 2))); });
    case BiasGelu::Kind::kTanh:
      return Rows<T>(count, n, b, [half](T v) {
        constexpr double kScale = 0.7978845608028654;  // sqrt(2 / pi)
        return half * v * (1 + std::tanh(static_cast<T>(kScale) * (v + static_cast<T>(0.044715) * v * v * v)));
      });
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeBiasGelu(const Operation& operation) {
  const BiasGelu gelu = std::get<BiasGelu>(operation.params);
  const bool has_bias = operation.in.size() > 1 && operation.in[1].dtype != 0;
  if (has_bias && operation.in[1].dtype != operation.in[0].dtype) return std::unique_ptr<Kernel>();
  const int64_t count = operation.in[0].count(), n = has_bias ? std::max<int64_t>(operation.in[1].count(), 1) : 1;
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(
        operation.in.size(),
        [gelu, count, n](const Buffers& b) -> const char* {
          Run<T>(gelu, count, n, b);
          return nullptr;
        },
        true);
  });
}

}  // namespace wf::kernels::ref
