#include "runtime/kernels/unary/vector.h"

#include <immintrin.h>

#include <algorithm>
#include <limits>

#include "runtime/kernels/ref.h"

#define WF_AVX2 __attribute__((target("avx2,fma")))

namespace wf::kernels::avx2 {
namespace {

constexpr int64_t kLanes = 8;
constexpr float kMost = 88.3762626F;  // e to this power is the largest number below infinity by some digits

// e^x: x = n ln 2 + r, |r| <= ln 2 / 2, e^r by its Taylor polynomial. Below -87 about 0, from kMost on infinity; NaN stays.
WF_AVX2 inline __m256 Exp(__m256 x) {
  const __m256 bounded = _mm256_max_ps(_mm256_set1_ps(-87.0F), _mm256_min_ps(_mm256_set1_ps(kMost), x));
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(bounded, _mm256_set1_ps(1.44269504F)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375F), bounded);  // ln 2 in two parts, of which n times the first is exact
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4F), r);
  __m256 sum = _mm256_set1_ps(1.0F / 720);
  for (const float factor : {1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F}) sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(factor));
  const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  const __m256 result = _mm256_mul_ps(sum, _mm256_castsi256_ps(power));
  const __m256 over = _mm256_cmp_ps(x, _mm256_set1_ps(kMost), _CMP_GE_OQ);
  return _mm256_blendv_ps(result, _mm256_set1_ps(std::numeric_limits<float>::infinity()), over);
}

// times / (1 + e^-x)
WF_AVX2 inline __m256 OverOnePlusExp(__m256 times, __m256 x) {
  const __m256 power = Exp(_mm256_xor_ps(x, _mm256_set1_ps(-0.0F)));
  return _mm256_div_ps(times, _mm256_add_ps(_mm256_set1_ps(1), power));
}

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
