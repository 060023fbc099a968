#pragma once

#include <immintrin.h>

#include <cstdint>
#include <initializer_list>
#include <limits>

#include "runtime/kernels/half.h"
#include "runtime/kernels/unary/unary.h"

// Products of bf16 that are summed in f32, and what own kernels do around them: for CPUs whose instructions multiply bf16 (operation.h,
// MultipliesBf16).
#define WF_BRAINS __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

#if defined(__GNUC__) && !defined(__clang__)
// Of what its own intrinsics take for any value, GCC 12 says that it is used uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace wf::kernels::avx512 {

inline constexpr int64_t kLanes = 16;
inline constexpr int64_t kColumns = 32;  // of a panel

// The second factor [k, n] as panels of 32 columns, in each the elements of two rows side by side: [n / 32][k / 2][32][2]. What is missing
// of the last panel, and of an odd k, is 0.
constexpr int64_t PanelElements(int64_t k, int64_t n) { return (n + kColumns - 1) / kColumns * kColumns * ((k + 1) / 2 * 2); }
// element(row, column) gives an f32 or a Brain.
template <typename Element>
void PackBrains(int64_t k, int64_t n, Brain* to, Element element) {
  for (int64_t first = 0; first < n; first += kColumns) {
    for (int64_t row = 0; row < k; row += 2) {
      for (int64_t column = first; column < first + kColumns; ++column) {
        for (int64_t i = row; i < row + 2; ++i) *to++ = i < k && column < n ? ToBrain(element(i, column)) : Brain{0};
      }
    }
  }
}

// c [m, n] = a [m, k] b, or c + a b; k is even. c has rows of f32, `c_row` apart.
struct BrainProduct {
  int64_t m, k, n;
  const Brain* a;
  int64_t a_row;
  const Brain* panels;  // of b
  float* c;
  int64_t c_row;
  bool adds = false;
};
void Multiply(const BrainProduct& product);  // REQUIRES: MultipliesBf16(), panels 64-aligned

// The first `count` lanes.
inline __mmask16 FirstLanes(int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xFFFFU : count <= 0 ? 0 : (1U << count) - 1);
}
WF_BRAINS inline __m512 Widened(__m256i brains) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(brains), 16)); }
WF_BRAINS inline __m512 LoadWide(const Brain* from, __mmask16 lanes) { return Widened(_mm256_maskz_loadu_epi16(lanes, from)); }
WF_BRAINS inline void StoreNarrow(Brain* to, __mmask16 lanes, __m512 x) {
  _mm256_mask_storeu_epi16(to, lanes, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
}

// As avx2::Exp (unary/vector_math.h).
WF_BRAINS inline __m512 Exp(__m512 x) {
  constexpr float kMostPower = 88.3762626F;
  const __m512 bounded = _mm512_max_ps(_mm512_set1_ps(-87.0F), _mm512_min_ps(_mm512_set1_ps(kMostPower), x));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(bounded, _mm512_set1_ps(1.44269504F)), 0);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375F), bounded);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4F), r);
  __m512 sum = _mm512_set1_ps(1.0F / 720);
  for (const float factor : {1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F}) sum = _mm512_fmadd_ps(sum, r, _mm512_set1_ps(factor));
  const __m512 result = _mm512_scalef_ps(sum, n);
  const __mmask16 over = _mm512_cmp_ps_mask(x, _mm512_set1_ps(kMostPower), _CMP_GE_OQ);
  return _mm512_mask_mov_ps(result, over, _mm512_set1_ps(std::numeric_limits<float>::infinity()));
}

// What is done to each element of a result: those of Fits. NaN stays.
class Behind {
 public:
  static bool Fits(UnaryOp op) {
    return op == UnaryOp::kIdentity || op == UnaryOp::kRelu || op == UnaryOp::kClip || op == UnaryOp::kLeakyRelu || op == UnaryOp::kSwish;
  }
  explicit Behind(const Unary& then)
      : op_(then.op),
        least_(then.op == UnaryOp::kClip   ? then.alpha
               : then.op == UnaryOp::kRelu ? 0
                                           : -std::numeric_limits<float>::infinity()),
        most_(then.op == UnaryOp::kClip ? then.beta : std::numeric_limits<float>::infinity()),
        alpha_(then.alpha) {}

  bool clips() const { return op_ == UnaryOp::kIdentity || op_ == UnaryOp::kRelu || op_ == UnaryOp::kClip; }
  // kClips: as clips(), so that loops without other functions keep all in registers. Of MAXPS and MINPS the second operand is the result
  // where one is NaN.
  template <bool kClips>
  WF_BRAINS __m512 Apply(__m512 x) const {
    return kClips ? _mm512_min_ps(_mm512_set1_ps(most_), _mm512_max_ps(_mm512_set1_ps(least_), x)) : Apply(x);
  }
  WF_BRAINS __m512 Apply(__m512 x) const {
    if (op_ == UnaryOp::kSwish) {
      const __m512 power = Exp(_mm512_mul_ps(x, _mm512_set1_ps(-alpha_)));
      return _mm512_div_ps(x, _mm512_add_ps(_mm512_set1_ps(1), power));
    }
    if (op_ == UnaryOp::kLeakyRelu) {
      const __mmask16 below = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_LT_OQ);
      return _mm512_mask_mul_ps(x, below, x, _mm512_set1_ps(alpha_));
    }
    return Apply<true>(x);
  }

 private:
  UnaryOp op_;
  float least_, most_, alpha_;
};

}  // namespace wf::kernels::avx512
