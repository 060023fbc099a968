#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <limits>

// Functions of eight f32 at a time, for what is made of them: only code for AVX2 and FMA includes this.
#define WF_AVX2 __attribute__((target("avx2,fma")))

namespace wf::kernels::avx2 {

inline constexpr int64_t kLanes = 8;
inline constexpr float kMostPower = 88.3762626F;  // e to this power is the largest number below infinity by some digits

// e^x: x = n ln 2 + r, |r| <= ln 2 / 2, e^r by its Taylor polynomial. Below -87 about 0, from kMostPower on infinity; NaN stays.
WF_AVX2 inline __m256 Exp(__m256 x) {
  const __m256 bounded = _mm256_max_ps(_mm256_set1_ps(-87.0F), _mm256_min_ps(_mm256_set1_ps(kMostPower), x));
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(bounded, _mm256_set1_ps(1.44269504F)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375F), bounded);  // ln 2 in two parts, of which n times the first is exact
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4F), r);
  __m256 sum = _mm256_set1_ps(1.0F / 720);
  for (const float factor : {1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F}) sum = _mm256_fmadd_ps(sum, r, _mm256_set1_ps(factor));
  const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  const __m256 result = _mm256_mul_ps(sum, _mm256_castsi256_ps(power));
  const __m256 over = _mm256_cmp_ps(x, _mm256_set1_ps(kMostPower), _CMP_GE_OQ);
  return _mm256_blendv_ps(result, _mm256_set1_ps(std::numeric_limits<float>::infinity()), over);
}

// times / (1 + e^-x)
WF_AVX2 inline __m256 OverOnePlusExp(__m256 times, __m256 x) {
  const __m256 power = Exp(_mm256_xor_ps(x, _mm256_set1_ps(-0.0F)));
  return _mm256_div_ps(times, _mm256_add_ps(_mm256_set1_ps(1), power));
}

// By a polynomial where 1 - 2 / (1 + e^2|x|) would lose digits. NaN stays.
WF_AVX2 inline __m256 TanhOf(__m256 x) {
  const __m256 sign = _mm256_set1_ps(-0.0F), size = _mm256_andnot_ps(sign, x), square = _mm256_mul_ps(x, x);
  __m256 sum = _mm256_set1_ps(-5.70498872745e-3F);
  for (const float factor : {2.06390887954e-2F, -5.37397155531e-2F, 1.33314422036e-1F, -3.33332819422e-1F})
    sum = _mm256_fmadd_ps(sum, square, _mm256_set1_ps(factor));
  const __m256 near = _mm256_fmadd_ps(_mm256_mul_ps(sum, square), x, x);
  const __m256 rest = _mm256_div_ps(_mm256_set1_ps(2), _mm256_add_ps(Exp(_mm256_add_ps(size, size)), _mm256_set1_ps(1)));
  const __m256 far = _mm256_or_ps(_mm256_sub_ps(_mm256_set1_ps(1), rest), _mm256_and_ps(sign, x));
  return _mm256_blendv_ps(near, far, _mm256_cmp_ps(size, _mm256_set1_ps(0.625F), _CMP_GT_OQ));
}

// log(1 + e^x) as max(x, 0) + log(1 + t) with t = e^-|x|, and that by the series of 2 artanh(t / (2 + t)): small results keep their digits.
// NaN stays.
WF_AVX2 inline __m256 SoftplusOf(__m256 x) {
  const __m256 t = Exp(_mm256_or_ps(x, _mm256_set1_ps(-0.0F)));
  const __m256 part = _mm256_div_ps(t, _mm256_add_ps(t, _mm256_set1_ps(2))), square = _mm256_mul_ps(part, part);
  __m256 sum = _mm256_set1_ps(2.0F / 15);
  for (const float factor : {2.0F / 13, 2.0F / 11, 2.0F / 9, 2.0F / 7, 2.0F / 5, 2.0F / 3, 2.0F})
    sum = _mm256_fmadd_ps(sum, square, _mm256_set1_ps(factor));
  return _mm256_fmadd_ps(sum, part, _mm256_max_ps(_mm256_setzero_ps(), x));
}

// x tanh(log(1 + e^x)) = x n / (n + 2) with n = e^x (e^x + 2), 0 below -87, where Exp is not. NaN stays.
WF_AVX2 inline __m256 MishOf(__m256 x) {
  const __m256 two = _mm256_set1_ps(2), near = _mm256_cmp_ps(x, _mm256_set1_ps(-87), _CMP_NLT_UQ);
  const __m256 power = _mm256_and_ps(near, Exp(_mm256_min_ps(_mm256_set1_ps(20), x)));
  const __m256 n = _mm256_mul_ps(power, _mm256_add_ps(power, two));
  return _mm256_mul_ps(x, _mm256_div_ps(n, _mm256_add_ps(n, two)));
}

// Two polynomials, with the factors of N. Juffa's erff: of x near 0, and of |x| for the power in 1 - e^-p. Within two of the last digit;
// NaN and the sign of 0 stay.
WF_AVX2 inline __m256 ErfOf(__m256 x) {
  const __m256 sign = _mm256_set1_ps(-0.0F), size = _mm256_andnot_ps(sign, x), square = _mm256_mul_ps(x, x);
  __m256 near = _mm256_set1_ps(-5.96761703e-4F);
  for (const float factor : {4.99119423e-3F, -2.67681349e-2F, 1.12819925e-1F, -3.76125336e-1F, 1.28379166e-1F})
    near = _mm256_fmadd_ps(near, square, _mm256_set1_ps(factor));
  near = _mm256_fmadd_ps(near, x, x);
  __m256 far = _mm256_set1_ps(-1.72853470e-5F);
  for (const float factor : {3.83197126e-4F, -3.88396438e-3F, 2.42546219e-2F, -1.06777877e-1F, -6.34846687e-1F, -1.28717512e-1F})
    far = _mm256_fmadd_ps(far, size, _mm256_set1_ps(factor));
  far = _mm256_sub_ps(_mm256_set1_ps(1), Exp(_mm256_fmsub_ps(far, size, size)));
  return _mm256_blendv_ps(near, _mm256_or_ps(far, _mm256_and_ps(sign, x)), _mm256_cmp_ps(size, _mm256_set1_ps(0.927734375F), _CMP_GT_OQ));
}

// Of |x| above tan(pi / 8) by what is left of pi / 4 or pi / 2, with the factors of Cephes' atanf. NaN and the sign of 0 stay.
WF_AVX2 inline __m256 AtanOf(__m256 x) {
  const __m256 sign = _mm256_set1_ps(-0.0F), size = _mm256_andnot_ps(sign, x), one = _mm256_set1_ps(1);
  const __m256 middle = _mm256_cmp_ps(size, _mm256_set1_ps(0.414213562F), _CMP_GT_OQ);
  const __m256 far = _mm256_cmp_ps(size, _mm256_set1_ps(2.41421356F), _CMP_GT_OQ);
  const __m256 above = _mm256_blendv_ps(_mm256_sub_ps(size, one), _mm256_set1_ps(-1), far);
  const __m256 below = _mm256_blendv_ps(_mm256_add_ps(size, one), size, far);
  const __m256 rest = _mm256_blendv_ps(size, _mm256_div_ps(above, below), middle), square = _mm256_mul_ps(rest, rest);
  const __m256 begin = _mm256_and_ps(middle, _mm256_blendv_ps(_mm256_set1_ps(0.785398163F), _mm256_set1_ps(1.57079633F), far));
  __m256 sum = _mm256_set1_ps(8.05374449538e-2F);
  for (const float factor : {-1.38776856032e-1F, 1.99777106478e-1F, -3.33329491539e-1F})
    sum = _mm256_fmadd_ps(sum, square, _mm256_set1_ps(factor));
  sum = _mm256_add_ps(begin, _mm256_fmadd_ps(_mm256_mul_ps(sum, square), rest, rest));
  return _mm256_or_ps(sum, _mm256_and_ps(sign, x));
}

// Of |x| above 1/2 by the half of the angle that is left of pi / 2, with the factors of Cephes' asinf. NaN beyond 1; NaN and the sign of 0
// stay.
WF_AVX2 inline __m256 AsinOf(__m256 x) {
  const __m256 sign = _mm256_set1_ps(-0.0F), size = _mm256_andnot_ps(sign, x), half = _mm256_set1_ps(0.5F);
  const __m256 far = _mm256_cmp_ps(size, half, _CMP_GT_OQ);
  const __m256 square = _mm256_blendv_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(half, _mm256_sub_ps(_mm256_set1_ps(1), size)), far);
  const __m256 of = _mm256_blendv_ps(size, _mm256_sqrt_ps(square), far);
  __m256 sum = _mm256_set1_ps(4.2163199048e-2F);
  for (const float factor : {2.4181311049e-2F, 4.5470025998e-2F, 7.4953002686e-2F, 1.6666752422e-1F})
    sum = _mm256_fmadd_ps(sum, square, _mm256_set1_ps(factor));
  sum = _mm256_fmadd_ps(_mm256_mul_ps(sum, square), of, of);
  sum = _mm256_blendv_ps(sum, _mm256_fnmadd_ps(_mm256_set1_ps(2), sum, _mm256_set1_ps(1.57079633F)), far);
  return _mm256_or_ps(sum, _mm256_and_ps(sign, x));
}

// The first `count` lanes, all where there are more.
WF_AVX2 inline __m256i FirstLanes(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(std::min(count, kLanes))), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

WF_AVX2 inline float SumOf(__m256 x) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}

}  // namespace wf::kernels::avx2
