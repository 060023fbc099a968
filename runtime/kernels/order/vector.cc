#include "runtime/kernels/avx2.h"

#include <algorithm>
#include <limits>

#include "runtime/kernels/operation.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::avx2 {
namespace {

constexpr int64_t kTogether = 512;  // places whose extremes are held beside the rows that are gone through

struct Held {
  alignas(32) float value[kTogether];
  alignas(32) int32_t at[kTogether];
};

// Whether the new one is taken. NaN is beyond all numbers; of what ties the last where kLast says so.
template <bool kLargest, bool kLast>
WF_AVX2 inline __m256 IsTaken(__m256 next, __m256 held) {
  constexpr int kBeyond = kLargest ? (kLast ? _CMP_GE_OQ : _CMP_GT_OQ) : (kLast ? _CMP_LE_OQ : _CMP_LT_OQ);
  __m256 is_nan = _mm256_cmp_ps(next, next, _CMP_UNORD_Q);
  if constexpr (!kLast) is_nan = _mm256_and_ps(is_nan, _mm256_cmp_ps(held, held, _CMP_ORD_Q));
  return _mm256_or_ps(_mm256_cmp_ps(next, held, kBeyond), is_nan);
}

// `count` places, at most kTogether; rows lie around.inner apart.
template <bool kLargest, bool kLast>
WF_AVX2 void Find(const Around& around, const float* x, int64_t count, Held& held, int64_t* to) {
  std::copy_n(x, count, held.value);
  std::fill_n(held.at, count, 0);
  for (int64_t k = 1; k < around.extent; ++k) {
    const float* const row = x + k * around.inner;
    const __m256 place = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(k)));
    for (int64_t i = 0; i < count; i += kLanes) {
      const __m256 next = i + kLanes <= count ? _mm256_loadu_ps(row + i) : _mm256_maskload_ps(row + i, FirstLanes(count - i));
      const __m256 value = _mm256_load_ps(held.value + i), taken = IsTaken<kLargest, kLast>(next, value);
      auto* const at = reinterpret_cast<float*>(held.at + i);
      _mm256_store_ps(held.value + i, _mm256_blendv_ps(value, next, taken));
      _mm256_store_ps(at, _mm256_blendv_ps(_mm256_load_ps(at), place, taken));
    }
  }
  std::copy_n(held.at, count, to);
}

using Finder = void (*)(const Around& around, const float* x, int64_t count, Held& held, int64_t* to);

Finder FinderOf(const ArgExtreme& arg) {
  if (arg.largest) return arg.last ? Find<true, true> : Find<true, false>;
  return arg.last ? Find<false, true> : Find<false, false>;
}

const char* Run(const Around& around, Finder find, const Buffers& b) {
  const auto* x = static_cast<const float*>(b.in[0]);
  auto* to = static_cast<int64_t*>(b.out[0]);
  Held& held = *static_cast<Held*>(b.scratch);
  for (int64_t o = 0; o < around.outer; ++o, x += around.extent * around.inner) {
    for (int64_t first = 0; first < around.inner; first += kTogether) {
      const int64_t count = std::min(kTogether, around.inner - first);
      find(around, x + first, count, held, to);
      to += count;
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeArgExtreme(const Operation& operation) {
  const auto& arg = std::get<ArgExtreme>(operation.params);
  const Around around = AroundAxis(operation.in[0].dim, arg.axis);
  const bool fits = Available() && operation.in[0].dtype == WF_F32 && around.inner >= kLanes && around.extent > 0 &&
                    around.extent <= std::numeric_limits<int32_t>::max();
  if (!fits) return std::unique_ptr<Kernel>();
  auto kernel = MakeFunction(1, [around, find = FinderOf(arg)](const Buffers& b) { return Run(around, find, b); });
  kernel->scratch_bytes = sizeof(Held);
  return kernel;
}

}  // namespace wf::kernels::avx2
