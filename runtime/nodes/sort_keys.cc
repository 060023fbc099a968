#include "runtime/nodes/sort_keys.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// The lanes for which the one whose number differs in these bits is before.
constexpr unsigned UpperLanes(int lanes, int bits) {
  unsigned upper = 0;
  for (int lane = 0; lane < lanes; ++lane) upper |= (lane ^ bits) < lane ? 1U << lane : 0U;
  return upper;
}

// Of vectors with kLanes lanes: the 32-bit element that comes from number kLanes ^ kBits.
template <int kLanes, int kWidth, int kBits>
constexpr auto kPartners = [] {
  std::array<int32_t, static_cast<size_t>(kLanes * kWidth)> from{};
  for (int i = 0; i < kLanes * kWidth; ++i) from[static_cast<size_t>(i)] = (i / kWidth ^ kBits) * kWidth + i % kWidth;
  return from;
}();

namespace avx512 {
#define WF_SORT_VECTORS __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))
#define WF_AVX512 WF_SORT_VECTORS __attribute__((always_inline)) static

struct Lanes32 {
  using Key = int32_t;
  using Vector = __m512i;
  static constexpr int kCount = 16;
  static constexpr unsigned kAll = 0xffff;

  WF_AVX512 unsigned First(int64_t count) { return (1U << std::clamp<int64_t>(count, 0, kCount)) - 1; }
  WF_AVX512 Vector All(Key key) { return _mm512_set1_epi32(key); }
  WF_AVX512 Vector Load(const Key* from) { return _mm512_loadu_si512(from); }
  WF_AVX512 Vector LoadFirst(Vector rest, int64_t count, const Key* from) {
    return _mm512_mask_loadu_epi32(rest, static_cast<__mmask16>(First(count)), from);
  }
  WF_AVX512 void Store(Key* to, Vector x) { _mm512_storeu_si512(to, x); }
  WF_AVX512 void StoreFirst(Key* to, int64_t count, Vector x) { _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(First(count)), x); }
  WF_AVX512 Vector Least(Vector a, Vector b) { return _mm512_min_epi32(a, b); }
  WF_AVX512 Vector Most(Vector a, Vector b) { return _mm512_max_epi32(a, b); }
  template <int kBits>
  WF_AVX512 Vector Exchanged(Vector x) {
    return _mm512_permutexvar_epi32(_mm512_loadu_si512(kPartners<kCount, 1, kBits>.data()), x);
  }
  template <unsigned kUpper>
  WF_AVX512 Vector Joined(Vector lower, Vector upper) {
    return _mm512_mask_blend_epi32(kUpper, lower, upper);
  }
  WF_AVX512 unsigned Below(Vector a, Vector b) { return _mm512_cmplt_epi32_mask(a, b); }
  WF_AVX512 Vector Packed(unsigned these, Vector x) { return _mm512_maskz_compress_epi32(static_cast<__mmask16>(these), x); }
};

struct Lanes64 {
  using Key = int64_t;
  using Vector = __m512i;
  static constexpr int kCount = 8;
  static constexpr unsigned kAll = 0xff;

  WF_AVX512 unsigned First(int64_t count) { return (1U << std::clamp<int64_t>(count, 0, kCount)) - 1; }
  WF_AVX512 Vector All(Key key) { return _mm512_set1_epi64(key); }
  WF_AVX512 Vector Load(const Key* from) { return _mm512_loadu_si512(from); }
  WF_AVX512 Vector LoadFirst(Vector rest, int64_t count, const Key* from) {
    return _mm512_mask_loadu_epi64(rest, static_cast<__mmask8>(First(count)), from);
  }
  WF_AVX512 void Store(Key* to, Vector x) { _mm512_storeu_si512(to, x); }
  WF_AVX512 void StoreFirst(Key* to, int64_t count, Vector x) { _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(First(count)), x); }
  WF_AVX512 Vector Least(Vector a, Vector b) { return _mm512_min_epi64(a, b); }
  WF_AVX512 Vector Most(Vector a, Vector b) { return _mm512_max_epi64(a, b); }
  template <int kBits>
  WF_AVX512 Vector Exchanged(Vector x) {
    return _mm512_permutexvar_epi32(_mm512_loadu_si512(kPartners<kCount, 2, kBits>.data()), x);
  }
  template <unsigned kUpper>
  WF_AVX512 Vector Joined(Vector lower, Vector upper) {
    return _mm512_mask_blend_epi64(kUpper, lower, upper);
  }
  WF_AVX512 unsigned Below(Vector a, Vector b) { return _mm512_cmplt_epi64_mask(a, b); }
  WF_AVX512 Vector Packed(unsigned these, Vector x) { return _mm512_maskz_compress_epi64(static_cast<__mmask8>(these), x); }
};

#include "runtime/nodes/sort_vectors.inc"
#undef WF_SORT_VECTORS
}  // namespace avx512

namespace avx2 {
#define WF_SORT_VECTORS __attribute__((target("avx2,popcnt")))
#define WF_AVX2 WF_SORT_VECTORS __attribute__((always_inline)) static

// By lanes that are wanted: the 32-bit elements of them, a byte each, and then those of the others.
template <int kLanes>
constexpr auto kPacked = [] {
  constexpr int kWidth = 8 / kLanes;
  std::array<uint64_t, size_t{1} << kLanes> from{};
  for (unsigned these = 0; these < from.size(); ++these) {
    int place = 0;
    for (const unsigned wanted : {1U, 0U}) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if ((these >> lane & 1) != wanted) continue;
        for (int part = 0; part < kWidth; ++part) from[these] |= static_cast<uint64_t>(lane * kWidth + part) << (8 * place++);
      }
    }
  }
  return from;
}();

template <int kLanes>
WF_AVX2 inline __m256i PackedLanes(unsigned these, __m256i x) {
  return _mm256_permutevar8x32_epi32(x, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<int64_t>(kPacked<kLanes>[these]))));
}

struct Lanes32 {
  using Key = int32_t;
  using Vector = __m256i;
  static constexpr int kCount = 8;
  static constexpr unsigned kAll = 0xff;

  WF_AVX2 Vector First(int64_t count) {
    return _mm256_cmpgt_epi32(All(static_cast<Key>(std::clamp<int64_t>(count, 0, kCount))), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  WF_AVX2 Vector All(Key key) { return _mm256_set1_epi32(key); }
  WF_AVX2 Vector Load(const Key* from) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from)); }
  WF_AVX2 Vector LoadFirst(Vector rest, int64_t count, const Key* from) {
    return _mm256_blendv_epi8(rest, _mm256_maskload_epi32(from, First(count)), First(count));
  }
  WF_AVX2 void Store(Key* to, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(to), x); }
  WF_AVX2 void StoreFirst(Key* to, int64_t count, Vector x) { _mm256_maskstore_epi32(to, First(count), x); }
  WF_AVX2 Vector Least(Vector a, Vector b) { return _mm256_min_epi32(a, b); }
  WF_AVX2 Vector Most(Vector a, Vector b) { return _mm256_max_epi32(a, b); }
  template <int kBits>
  WF_AVX2 Vector Exchanged(Vector x) {
    return _mm256_permutevar8x32_epi32(x, Load(kPartners<kCount, 1, kBits>.data()));
  }
  template <unsigned kUpper>
  WF_AVX2 Vector Joined(Vector lower, Vector upper) {
    return _mm256_blend_epi32(lower, upper, kUpper);
  }
  WF_AVX2 unsigned Below(Vector a, Vector b) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a))));
  }
  WF_AVX2 Vector Packed(unsigned these, Vector x) { return PackedLanes<kCount>(these, x); }
};

struct Lanes64 {
  using Key = int64_t;
  using Vector = __m256i;
  static constexpr int kCount = 4;
  static constexpr unsigned kAll = 0xf;

  WF_AVX2 Vector First(int64_t count) { return _mm256_cmpgt_epi64(All(count), _mm256_setr_epi64x(0, 1, 2, 3)); }
  WF_AVX2 Vector All(Key key) { return _mm256_set1_epi64x(key); }
  WF_AVX2 Vector Load(const Key* from) { return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from)); }
  WF_AVX2 Vector LoadFirst(Vector rest, int64_t count, const Key* from) {
    return _mm256_blendv_epi8(rest, _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), First(count)), First(count));
  }
  WF_AVX2 void Store(Key* to, Vector x) { _mm256_storeu_si256(reinterpret_cast<Vector*>(to), x); }
  WF_AVX2 void StoreFirst(Key* to, int64_t count, Vector x) { _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), First(count), x); }
  WF_AVX2 Vector Least(Vector a, Vector b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
  WF_AVX2 Vector Most(Vector a, Vector b) { return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)); }
  template <int kBits>
  WF_AVX2 Vector Exchanged(Vector x) {
    return _mm256_permute4x64_epi64(x, kBits | (1 ^ kBits) << 2 | (2 ^ kBits) << 4 | (3 ^ kBits) << 6);
  }
  template <unsigned kUpper>
  WF_AVX2 Vector Joined(Vector lower, Vector upper) {
    return _mm256_blend_epi32(lower, upper, (kUpper & 1) * 3 | (kUpper & 2) * 6 | (kUpper & 4) * 12 | (kUpper & 8) * 24);
  }
  WF_AVX2 unsigned Below(Vector a, Vector b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(b, a))));
  }
  WF_AVX2 Vector Packed(unsigned these, Vector x) { return PackedLanes<kCount>(these, x); }
};

#include "runtime/nodes/sort_vectors.inc"
#undef WF_SORT_VECTORS
}  // namespace avx2

template <typename Sorter, typename Key>
bool Sorted(const wf_ctx* ctx, std::span<Key> keys, Key* spare) {
  const int most_deep = 2 * std::bit_width(keys.size());
  return Sorter(ctx).Sort(keys.data(), static_cast<int64_t>(keys.size()), spare, keys.data(), most_deep);
}

}  // namespace

SortVectors VectorsToSort() {
  static const SortVectors has = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 ? SortVectors::kAvx512
                                 : __builtin_cpu_supports("avx2") != 0                                              ? SortVectors::kAvx2
                                                                                                                    : SortVectors::kNone;
  return has;
}

bool SortKeys(const wf_ctx* ctx, std::span<int32_t> keys, int32_t* spare, SortVectors by) {
  return by == SortVectors::kAvx512 ? Sorted<avx512::Sorter<avx512::Lanes32>>(ctx, keys, spare)
                                    : Sorted<avx2::Sorter<avx2::Lanes32>>(ctx, keys, spare);
}
bool SortKeys(const wf_ctx* ctx, std::span<int64_t> keys, int64_t* spare, SortVectors by) {
  return by == SortVectors::kAvx512 ? Sorted<avx512::Sorter<avx512::Lanes64>>(ctx, keys, spare)
                                    : Sorted<avx2::Sorter<avx2::Lanes64>>(ctx, keys, spare);
}

}  // namespace wf::nodes
