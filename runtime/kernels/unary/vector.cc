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

WF_AVX2 void Softplus(const float* in, float* out, int64_t count) {
  Each(in, out, count, [](const float* x, float* y) WF_AVX2 { _mm256_storeu_ps(y, SoftplusOf(_mm256_loadu_ps(x))); });
}

WF_AVX2 void Mish(const float* in, float* out, int64_t count) {
  Each(in, out, count, [](const float* x, float* y) WF_AVX2 { _mm256_storeu_ps(y, MishOf(_mm256_loadu_ps(x))); });
}

WF_AVX2 void Tanh(const float* in, float* out, int64_t count) {
  Each(in, out, count, [](const float* x, float* y) WF_AVX2 { _mm256_storeu_ps(y, TanhOf(_mm256_loadu_ps(x))); });
}

namespace {

bool IsHere(UnaryOp op) { return op == UnaryOp::kMish || op == UnaryOp::kSigmoid || op == UnaryOp::kSoftplus || op == UnaryOp::kSwish; }

void Compute(const Unary& unary, const float* in, float* out, int64_t count) {
  if (unary.op == UnaryOp::kMish) return Mish(in, out, count);
  if (unary.op == UnaryOp::kSigmoid) return Sigmoid(in, out, count);
  if (unary.op == UnaryOp::kSoftplus) return Softplus(in, out, count);
  Swish(unary.alpha, in, out, count);
}

}  // namespace

// Of data in any format without padding.
base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation& operation) {
  const Unary unary = std::get<Unary>(operation.params);
  const TensorInfo& x = operation.in[0];
  const bool here = Available() && operation.in.size() == 1 && IsHere(unary.op);
  const int64_t count = x.count();
  if (!here || x.size_bytes() != count * int64_t{sizeof(float)}) return std::unique_ptr<Kernel>();
  auto kernel = MakeFunction(
      1,
      [unary, count](const Buffers& b) -> const char* {
        Compute(unary, static_cast<const float*>(b.in[0]), static_cast<float*>(b.out[0]), count);
        return nullptr;
      },
      true);
  kernel->in_format[0] = kernel->out_format = x.format;
  return kernel;
}

}  // namespace wf::kernels::avx2
