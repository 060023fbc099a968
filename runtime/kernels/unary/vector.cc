#include "runtime/kernels/unary/vector.h"

#include <algorithm>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector_math.h"

namespace wf::kernels::avx2 {
namespace {

// f(in, out): of one block.
template <typename F>
WF_AVX2 inline void Each(const float* in, float* out, int64_t count, F f) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) f(in + i, out + i);
  if (i == count) return;
  float rest[kLanes] = {};
  std::copy(in + i, in + count, rest);
  f(rest, rest);
  std::copy(rest, rest + (count - i), out + i);
}

}  // namespace

bool Available() {
  static const bool available = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return available;
}

WF_AVX2 void Sigmoid(const float* in, float* out, int64_t count) {
  Each(in, out, count,
       [](const float* x, float* y) WF_AVX2 { _mm256_storeu_ps(y, OverOnePlusExp(_mm256_set1_ps(1), _mm256_loadu_ps(x))); });
}

WF_AVX2 void Swish(float alpha, const float* in, float* out, int64_t count) {
  Each(in, out, count, [alpha](const float* x, float* y) WF_AVX2 {
    const __m256 value = _mm256_loadu_ps(x);
    _mm256_storeu_ps(y, OverOnePlusExp(value, _mm256_mul_ps(_mm256_set1_ps(alpha), value)));
  });
}

WF_AVX2 void Tanh(const float* in, float* out, int64_t count) {
  Each(in, out, count, [](const float* x, float* y) WF_AVX2 { _mm256_storeu_ps(y, TanhOf(_mm256_loadu_ps(x))); });
}

// Of data in any format without padding.
base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation& operation) {
  const Unary unary = std::get<Unary>(operation.params);
  const TensorInfo& x = operation.in[0];
  const bool here = Available() && operation.in.size() == 1 && (unary.op == UnaryOp::kSigmoid || unary.op == UnaryOp::kSwish);
  const int64_t count = x.count();
  if (!here || x.size_bytes() != count * int64_t{sizeof(float)}) return std::unique_ptr<Kernel>();
  auto kernel = MakeFunction(
      1,
      [unary, count](const Buffers& b) -> const char* {
        const auto* in = static_cast<const float*>(b.in[0]);
        auto* out = static_cast<float*>(b.out[0]);
        unary.op == UnaryOp::kSigmoid ? Sigmoid(in, out, count) : Swish(unary.alpha, in, out, count);
        return nullptr;
      },
      true);
  kernel->in_format[0] = kernel->out_format = x.format;
  return kernel;
}

}  // namespace wf::kernels::avx2
