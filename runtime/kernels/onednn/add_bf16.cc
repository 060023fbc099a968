#include "runtime/kernels/onednn/add_bf16.h"

#include <immintrin.h>

#include <limits>

namespace wf::kernels::onednn {
namespace {

#define WF_BF16 __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512bf16")))

constexpr int64_t kLanes = 8;

WF_BF16 inline __m256 WidenedFrom(__mmask8 which, const Brain* from) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(which, from)), 16));
}

}  // namespace

// Of MAXPS and MINPS the second operand is the result where one is NaN.
WF_BF16 void AddBf16(const Unary& then, const Brain* addend, Brain* out, int64_t count) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const bool clips = then.op == UnaryOp::kClip;
  const __m256 least = _mm256_set1_ps(clips ? then.alpha : then.op == UnaryOp::kRelu ? 0.0F : -kInfinite);
  const __m256 most = _mm256_set1_ps(clips ? then.beta : kInfinite);
  for (int64_t i = 0; i < count; i += kLanes) {
    const auto which = static_cast<__mmask8>(count - i < kLanes ? (1U << (count - i)) - 1 : 0xffU);
    __m256 x = WidenedFrom(which, out + i);
    if (addend != nullptr) x = _mm256_add_ps(x, WidenedFrom(which, addend + i));
    x = _mm256_min_ps(most, _mm256_max_ps(least, x));
    _mm_mask_storeu_epi16(out + i, which, reinterpret_cast<__m128i>(_mm256_cvtneps_pbh(x)));
  }
}
#undef WF_BF16

}  // namespace wf::kernels::onednn
