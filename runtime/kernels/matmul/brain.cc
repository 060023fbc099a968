#include "runtime/kernels/matmul/brain.h"

#include <algorithm>

namespace wf::kernels::avx512 {
namespace {

constexpr int kMostRows = 12;  // whose sums, with the panel's two vectors, fill the registers
#define WF_EACH_ROW _Pragma("GCC unroll 12") for (int r = 0; r < kRows; ++r)
#define WF_EACH_VECTOR _Pragma("GCC unroll 2") for (int v = 0; v < kVectors; ++v)

template <int kRows, int kVectors>
WF_BRAINS void MultiplyRows(const BrainProduct& p, const Brain* a, const Brain* panel, float* c, __mmask16 last) {
  __m512 sum[kRows][kVectors];
  WF_EACH_ROW WF_EACH_VECTOR {
    const __mmask16 lanes = v + 1 < kVectors ? static_cast<__mmask16>(0xFFFF) : last;
    sum[r][v] = p.adds ? _mm512_maskz_loadu_ps(lanes, c + r * p.c_row + v * kLanes) : _mm512_setzero_ps();
  }
  const int64_t pairs = p.k / 2, a_row = p.a_row;
  for (int64_t pair = 0; pair < pairs; ++pair, panel += 2 * kColumns) {
    __m512bh b[kVectors];
    WF_EACH_VECTOR b[v] = reinterpret_cast<__m512bh>(_mm512_load_si512(panel + 2 * kLanes * v));
    WF_EACH_ROW {
      int both;
      __builtin_memcpy(&both, a + r * a_row + 2 * pair, sizeof(both));
      const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(both));
      WF_EACH_VECTOR sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, b[v]);
    }
  }
  WF_EACH_ROW WF_EACH_VECTOR {
    const __mmask16 lanes = v + 1 < kVectors ? static_cast<__mmask16>(0xFFFF) : last;
    _mm512_mask_storeu_ps(c + r * p.c_row + v * kLanes, lanes, sum[r][v]);
  }
}
#undef WF_EACH_ROW
#undef WF_EACH_VECTOR

using RowsFn = void (*)(const BrainProduct&, const Brain*, const Brain*, float*, __mmask16);
template <int kVectors>
constexpr RowsFn kOfRows[] = {MultiplyRows<1, kVectors>,  MultiplyRows<2, kVectors>,  MultiplyRows<3, kVectors>,
                              MultiplyRows<4, kVectors>,  MultiplyRows<5, kVectors>,  MultiplyRows<6, kVectors>,
                              MultiplyRows<7, kVectors>,  MultiplyRows<8, kVectors>,  MultiplyRows<9, kVectors>,
                              MultiplyRows<10, kVectors>, MultiplyRows<11, kVectors>, MultiplyRows<12, kVectors>};

}  // namespace

// The rows of the last two blocks are shared out, so that none is short.
void Multiply(const BrainProduct& p) {
  const Brain* panel = p.panels;
  for (int64_t column = 0; column < p.n; column += kColumns, panel += kColumns * p.k) {
    const int64_t columns = std::min(kColumns, p.n - column);
    const bool both = columns > kLanes;
    const __mmask16 last = FirstLanes(both ? columns - kLanes : columns);
    for (int64_t row = 0; row < p.m;) {
      const int64_t left = p.m - row;
      const int64_t rows = left <= kMostRows ? left : left < 2 * kMostRows ? (left + 1) / 2 : kMostRows;
      (both ? kOfRows<2> : kOfRows<1>)[rows - 1](p, p.a + row * p.a_row, panel, p.c + row * p.c_row + column, last);
      row += rows;
    }
  }
}

}  // namespace wf::kernels::avx512
