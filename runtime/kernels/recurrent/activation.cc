#include "runtime/kernels/recurrent/activation.h"

#include <algorithm>
#include <cmath>

namespace wf::kernels {
namespace {

template <typename T, typename F>
void Each(T* x, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
}

}  // namespace

template <typename T>
void Activate(const Activation& activation, T* x, int64_t n) {
  const T alpha = static_cast<T>(activation.alpha), beta = static_cast<T>(activation.beta);
  switch (activation.op) {
    case ActivationOp::kAffine:
      return Each(x, n, [=](T v) { return alpha * v + beta; });
    case ActivationOp::kElu:
      return Each(x, n, [=](T v) { return v < 0 ? alpha * std::expm1(v) : v; });
    case ActivationOp::kHardSigmoid:
      return Each(x, n, [=](T v) { return std::min(std::max(alpha * v + beta, T(0)), T(1)); });
    case ActivationOp::kLeakyRelu:
      return Each(x, n, [=](T v) { return v < 0 ? alpha * v : v; });
    case ActivationOp::kRelu:
      return Each(x, n, [](T v) { return v < 0 ? T(0) : v; });
    case ActivationOp::kScaledTanh:
      return Each(x, n, [=](T v) { return alpha * std::tanh(beta * v); });
    case ActivationOp::kSigmoid:
      return Each(x, n, [](T v) { return 1 / (1 + std::exp(-v)); });
    case ActivationOp::kSoftplus:
      return Each(x, n, [](T v) { return std::max(v, T(0)) + std::log1p(std::exp(-std::abs(v))); });
    case ActivationOp::kSoftsign:
      return Each(x, n, [](T v) { return v / (1 + std::abs(v)); });
    case ActivationOp::kTanh:
      return Each(x, n, [](T v) { return std::tanh(v); });
    case ActivationOp::kThresholdedRelu:
      return Each(x, n, [=](T v) { return v > alpha ? v : T(0); });
  }
}
template void Activate<float>(const Activation&, float*, int64_t);
template void Activate<double>(const Activation&, double*, int64_t);

}  // namespace wf::kernels
