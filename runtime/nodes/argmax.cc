#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// The least that any element can be; NaN is none.
template <typename T>
constexpr T kLeast = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

template <typename T, size_t kCount>
[[gnu::always_inline]] inline T LargestOf(const std::array<T, kCount>& lanes) {
  if constexpr (kCount == 1) {
    return lanes[0];
  } else {
    std::array<T, kCount / 2> half;
    for (size_t lane = 0; lane < half.size(); ++lane)
      half[lane] = lanes[lane + half.size()] > lanes[lane] ? lanes[lane + half.size()] : lanes[lane];
    return LargestOf(half);
  }
}

// The largest of `n` elements; NaN are passed over. By lanes, which the compiler makes vectors of; the last turn may begin in the one
// before.
template <typename T>
[[gnu::always_inline]] inline T Largest(const T* data, int64_t n) {
  constexpr int64_t kLanes = 256 / sizeof(T);
  std::array<T, kLanes> lanes;
  lanes.fill(kLeast<T>);
  const auto take = [&lanes](const T* from, int64_t count) {
    for (int64_t lane = 0; lane < count; ++lane) lanes[lane] = from[lane] > lanes[lane] ? from[lane] : lanes[lane];
  };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) take(data + i, kLanes);
  if (n >= kLanes) {
    take(data + n - kLanes, kLanes);
  } else {
    take(data, n);
  }
  return LargestOf(lanes);
}

// Where the first `x` stands, `n` when there is none.
template <typename T>
[[gnu::always_inline]] inline int64_t First(const T* data, int64_t n, T x) {
  constexpr int64_t kLanes = 64;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    uint32_t is_there = 0;
    for (int64_t lane = 0; lane < kLanes; ++lane) is_there |= static_cast<uint32_t>(data[i + lane] == x);
    if (is_there != 0) break;
  }
  return std::find(data + i, data + n, x) - data;
}

template <typename T>
struct Scans {
  T (*largest)(const T*, int64_t);
  int64_t (*first)(const T*, int64_t, T);
};

#define WF_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

template <typename T>
WF_AVX512 T LargestInAvx512(const T* data, int64_t n) {
  return Largest(data, n);
}

// A bit for each element of a vector that is `x`, which all of its are.
template <typename T>
WF_AVX512 inline uint64_t Equal(const T* data, __m512i x) {
  const __m512i y = _mm512_loadu_si512(data);
  if constexpr (std::is_same_v<T, float>) return _mm512_cmp_ps_mask(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), _CMP_EQ_OQ);
  if constexpr (std::is_same_v<T, double>) return _mm512_cmp_pd_mask(_mm512_castsi512_pd(x), _mm512_castsi512_pd(y), _CMP_EQ_OQ);
  if constexpr (sizeof(T) == 1) return _mm512_cmpeq_epi8_mask(x, y);
  if constexpr (sizeof(T) == 2) return _mm512_cmpeq_epi16_mask(x, y);
  if constexpr (sizeof(T) == 4) return _mm512_cmpeq_epi32_mask(x, y);
  return _mm512_cmpeq_epi64_mask(x, y);
}

template <typename T>
WF_AVX512 int64_t FirstInAvx512(const T* data, int64_t n, T x) {
  constexpr int64_t kLanes = sizeof(__m512i) / sizeof(T), kAtOnce = 4 * kLanes;
  if (n < kLanes) return First(data, n, x);
  std::array<T, kLanes> same;
  same.fill(x);
  const __m512i all = _mm512_loadu_si512(same.data());
  int64_t i = 0;
  while (i + kAtOnce <= n && (Equal(data + i, all) | Equal(data + i + kLanes, all) | Equal(data + i + 2 * kLanes, all) |
                              Equal(data + i + 3 * kLanes, all)) == 0)
    i += kAtOnce;
  for (; i < n; i += kLanes) {
    const int64_t from = std::min(i, n - kLanes);  // what is before `i` is not `x`
    if (const uint64_t found = Equal(data + from, all); found != 0) return from + std::countr_zero(found);
  }
  return n;
}
template <typename T>
T LargestAnywhere(const T* data, int64_t n) {
  return Largest(data, n);
}
template <typename T>
int64_t FirstAnywhere(const T* data, int64_t n, T x) {
  return First(data, n, x);
}

template <typename T>
wf_code ArgMax(const wf_ctx* ctx, const T* data, int64_t n, int64_t* index) {
  static const Scans<T> scans = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0
                                    ? Scans<T>{LargestInAvx512<T>, FirstInAvx512<T>}
                                    : Scans<T>{LargestAnywhere<T>, FirstAnywhere<T>};
  T best = kLeast<T>;
  int64_t best_from = 0;
  const bool whole = InSteps(ctx, n, [&](int64_t from, int64_t to) {
    const T found = scans.largest(data + from, to - from);
    if (!(found > best)) return;
    best = found;
    best_from = from;
  });
  if (!whole) return WF_FAILED;
  const int64_t at = best_from + scans.first(data + best_from, n - best_from, best);
  *index = at == n ? 0 : at;  // all are NaN
  return 0;
}

// Of elements that are computed with as floats.
template <typename T>
wf_code ArgMaxOfStored(const wf_ctx* ctx, const T* data, int64_t n, int64_t* index) {
  const Ranking<T> ranks_before{data};
  *index = 0;
  const bool whole = InSteps(ctx, n, [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      if (ranks_before(i, *index)) *index = i;
    }
  });
  return whole ? 0 : WF_FAILED;
}

struct Rows {
  int64_t count, length, stride;  // in elements
};

wf_code ArgMaxOfRows(wf_ctx* ctx, const wf_tensor& x, Rows rows, int64_t* index) {
  if (rows.length == 0 && rows.count != 0) return Fail(ctx, wf::code::kEmpty, "argmax of no values");
  wf_code code = 0;
  const bool is_number = VisitElements(x, [&]<typename T>(const T* data) {
    for (int64_t row = 0; row < rows.count && code == 0; ++row) {
      if constexpr (std::is_arithmetic_v<T>) {
        code = ArgMax(ctx, data + row * rows.stride, rows.length, index + row);
      } else {
        code = ArgMaxOfStored(ctx, data + row * rows.stride, rows.length, index + row);
      }
    }
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "argmax takes numbers");
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_argmax(wf_ctx* ctx, const wf_tensor* x, int64_t* index) noexcept {
  return wf::nodes::ArgMaxOfRows(ctx, *x, {1, x->dim[0], 0}, index);
}

extern "C" wf_code wf_n_argmax_rows(wf_ctx* ctx, const wf_tensor* x, wf_tensor* indices) noexcept {
  using namespace wf::nodes;
  if (!AllocateTensor(ctx, WF_I64, {x->dim, 1}, indices)) return WF_FAILED;
  return ArgMaxOfRows(ctx, *x, {x->dim[0], x->dim[1], x->stride[0]}, static_cast<int64_t*>(indices->data));
}
