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

namespace {

template <__m256 (*kFunction)(__m256)>
WF_AVX2 void EachBy(const float* in, float* out, int64_t count) {
  Each(in, out, count, [](const float* x, float* y) WF_AVX2 { _mm256_storeu_ps(y, kFunction(_mm256_loadu_ps(x))); });
}

WF_AVX2 inline __m256 AbsOf(__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x); }
WF_AVX2 inline __m256 NegOf(__m256 x) { return _mm256_xor_ps(_mm256_set1_ps(-0.0F), x); }
WF_AVX2 inline __m256 ReciprocalOf(__m256 x) { return _mm256_div_ps(_mm256_set1_ps(1), x); }
WF_AVX2 inline __m256 SqrtOf(__m256 x) { return _mm256_sqrt_ps(x); }

template <int kTo>
WF_AVX2 inline __m256 RoundedTo(__m256 x) {
  return _mm256_round_ps(x, kTo | _MM_FROUND_NO_EXC);
}

// 0 of either sign is 0, NaN stays.
WF_AVX2 inline __m256 SignOf(__m256 x) {
  const __m256 zero = _mm256_setzero_ps(), one = _mm256_set1_ps(1);
  const __m256 sign = _mm256_or_ps(_mm256_and_ps(_mm256_set1_ps(-0.0F), x), one);
  const __m256 of_numbers = _mm256_and_ps(sign, _mm256_cmp_ps(x, zero, _CMP_NEQ_OQ));
  return _mm256_blendv_ps(of_numbers, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

using Function = void (*)(const float* in, float* out, int64_t count);

// Those that have no parameter. Null: it is left to other rows.
Function FunctionOf(UnaryOp op) {
  switch (op) {
    case UnaryOp::kAbs:
      return EachBy<AbsOf>;
    case UnaryOp::kAsin:
      return EachBy<AsinOf>;
    case UnaryOp::kAtan:
      return EachBy<AtanOf>;
    case UnaryOp::kCeil:
      return EachBy<RoundedTo<_MM_FROUND_TO_POS_INF>>;
    case UnaryOp::kErf:
      return EachBy<ErfOf>;
    case UnaryOp::kFloor:
      return EachBy<RoundedTo<_MM_FROUND_TO_NEG_INF>>;
    case UnaryOp::kMish:
      return EachBy<MishOf>;
    case UnaryOp::kNeg:
      return EachBy<NegOf>;
    case UnaryOp::kReciprocal:
      return EachBy<ReciprocalOf>;
    case UnaryOp::kRound:
      return EachBy<RoundedTo<_MM_FROUND_TO_NEAREST_INT>>;
    case UnaryOp::kSigmoid:
      return Sigmoid;
    case UnaryOp::kSign:
      return EachBy<SignOf>;
    case UnaryOp::kSoftplus:
      return EachBy<SoftplusOf>;
    case UnaryOp::kSqrt:
      return EachBy<SqrtOf>;
    default:
      return nullptr;
  }
}

void Compute(const Unary& unary, const float* in, float* out, int64_t count) {
  if (unary.op == UnaryOp::kSwish) return Swish(unary.alpha, in, out, count);
  FunctionOf(unary.op)(in, out, count);
}

}  // namespace

void Softplus(const float* in, float* out, int64_t count) { EachBy<SoftplusOf>(in, out, count); }
void Mish(const float* in, float* out, int64_t count) { EachBy<MishOf>(in, out, count); }
void Tanh(const float* in, float* out, int64_t count) { EachBy<TanhOf>(in, out, count); }

// Of data in any format without padding.
base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation& operation) {
  const Unary unary = std::get<Unary>(operation.params);
  const TensorInfo& x = operation.in[0];
  const bool here = Available() && operation.in.size() == 1 && (unary.op == UnaryOp::kSwish || FunctionOf(unary.op) != nullptr);
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
