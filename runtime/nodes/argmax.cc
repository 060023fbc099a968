#include <algorithm>
#include <array>
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

// The largest of `n` elements; NaN are passed over. By lanes, which the compiler makes vectors of.
template <typename T>
[[gnu::always_inline]] inline T Largest(const T* data, int64_t n) {
  constexpr int64_t kLanes = 256 / sizeof(T);
  std::array<T, kLanes> lanes;
  lanes.fill(kLeast<T>);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const T x = data[i + lane];
      lanes[lane] = x > lanes[lane] ? x : lanes[lane];
    }
  }
  for (; i < n; ++i) lanes[0] = data[i] > lanes[0] ? data[i] : lanes[0];
  return *std::max_element(lanes.begin(), lanes.end());
}

template <typename T>
__attribute__((target("avx512f,avx512bw,avx512vl"))) T LargestInAvx512(const T* data, int64_t n) {
  return Largest(data, n);
}
template <typename T>
T LargestAnywhere(const T* data, int64_t n) {
  return Largest(data, n);
}

template <typename T>
wf_code ArgMax(const wf_ctx* ctx, const T* data, int64_t n, int64_t* index) {
  static const auto largest =
      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 ? LargestInAvx512<T> : LargestAnywhere<T>;
  T best = kLeast<T>;
  int64_t best_from = 0;
  const bool whole = InSteps(ctx, n, [&](int64_t from, int64_t to) {
    const T found = largest(data + from, to - from);
    if (!(found > best)) return;
    best = found;
    best_from = from;
  });
  if (!whole) return WF_FAILED;
  const T* const at = std::find(data + best_from, data + n, best);
  *index = at == data + n ? 0 : at - data;  // all are NaN
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

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_argmax(wf_ctx* ctx, const wf_tensor* x, int64_t* index) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (n == 0) return Fail(ctx, wf::code::kEmpty, "argmax of no values");
  wf_code code = 0;
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    if constexpr (std::is_arithmetic_v<T>) {
      code = ArgMax(ctx, data, n, index);
    } else {
      code = ArgMaxOfStored(ctx, data, n, index);
    }
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "argmax takes numbers");
}
