#include "runtime/nodes/sort_keys.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "runtime/nodes/stop.h"

// Quicksort in vectors. (Bramas, A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512 on Intel Skylake; Batcher's bitonic networks
// for what fits into registers.)
namespace wf::nodes {
namespace {

#define WF_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,popcnt")))
#define WF_AVX512_INLINE __attribute__((target("avx512f,avx512bw,avx512vl,popcnt"), always_inline))

struct Lanes32 {
  using Key = uint32_t;
  using Mask = __mmask16;
  static constexpr int kCount = 16;

  WF_AVX512_INLINE static __m512i All(Key key) { return _mm512_set1_epi32(static_cast<int>(key)); }
  WF_AVX512_INLINE static __m512i Load(__m512i rest, Mask these, const Key* from) { return _mm512_mask_loadu_epi32(rest, these, from); }
  WF_AVX512_INLINE static void Store(Key* to, Mask these, __m512i x) { _mm512_mask_storeu_epi32(to, these, x); }
  WF_AVX512_INLINE static __m512i Least(__m512i a, __m512i b) { return _mm512_min_epu32(a, b); }
  WF_AVX512_INLINE static __m512i Most(__m512i rest, Mask these, __m512i a, __m512i b) { return _mm512_mask_max_epu32(rest, these, a, b); }
  WF_AVX512_INLINE static __m512i Permuted(__m512i x, __m512i from) { return _mm512_permutexvar_epi32(from, x); }
  WF_AVX512_INLINE static __m512i Packed(Mask these, __m512i x) { return _mm512_maskz_compress_epi32(these, x); }
  WF_AVX512_INLINE static Mask Below(Mask these, __m512i a, __m512i b) { return _mm512_mask_cmplt_epu32_mask(these, a, b); }
};

struct Lanes64 {
  using Key = uint64_t;
  using Mask = __mmask8;
  static constexpr int kCount = 8;

  WF_AVX512_INLINE static __m512i All(Key key) { return _mm512_set1_epi64(static_cast<int64_t>(key)); }
  WF_AVX512_INLINE static __m512i Load(__m512i rest, Mask these, const Key* from) { return _mm512_mask_loadu_epi64(rest, these, from); }
  WF_AVX512_INLINE static void Store(Key* to, Mask these, __m512i x) { _mm512_mask_storeu_epi64(to, these, x); }
  WF_AVX512_INLINE static __m512i Least(__m512i a, __m512i b) { return _mm512_min_epu64(a, b); }
  WF_AVX512_INLINE static __m512i Most(__m512i rest, Mask these, __m512i a, __m512i b) { return _mm512_mask_max_epu64(rest, these, a, b); }
  WF_AVX512_INLINE static __m512i Permuted(__m512i x, __m512i from) { return _mm512_permutexvar_epi64(from, x); }
  WF_AVX512_INLINE static __m512i Packed(Mask these, __m512i x) { return _mm512_maskz_compress_epi64(these, x); }
  WF_AVX512_INLINE static Mask Below(Mask these, __m512i a, __m512i b) { return _mm512_mask_cmplt_epu64_mask(these, a, b); }
};

template <typename L>
constexpr typename L::Mask kAll = static_cast<typename L::Mask>((1U << L::kCount) - 1);

template <typename L>
constexpr typename L::Mask First(int64_t count) {
  return static_cast<typename L::Mask>((1U << std::clamp<int64_t>(count, 0, L::kCount)) - 1);
}

// For each lane the one whose number differs in these bits, and the lanes for which that one is before.
template <typename L, int kBits>
struct Partners {
  static constexpr auto kLanes = [] {
    std::array<typename L::Key, L::kCount> lanes{};
    for (size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = static_cast<typename L::Key>(lane ^ kBits);
    return lanes;
  }();
  static constexpr auto kUpper = [] {
    unsigned lanes = 0;
    for (int lane = 0; lane < L::kCount; ++lane) lanes |= (lane ^ kBits) < lane ? 1U << lane : 0U;
    return static_cast<typename L::Mask>(lanes);
  }();
};

// As many keys as its vectors have lanes: those of the first vector, of the next.. Every exchange puts the smaller of two keys before the
// larger, so that vectors which a network of a power of two would have behind the last would keep what is largest: they are left out.
template <typename L, int kVectors>
struct Block {
  __m512i x[kVectors];

  template <int kBits>
  WF_AVX512_INLINE void ExchangeLanes() {
    const __m512i from = _mm512_loadu_si512(Partners<L, kBits>::kLanes.data());
    for (int i = 0; i < kVectors; ++i) {
      const __m512i other = L::Permuted(x[i], from);
      x[i] = L::Most(L::Least(x[i], other), Partners<L, kBits>::kUpper, x[i], other);
    }
  }

  // Sorts what rises and then falls, or the other way round, in each of the groups of 2 * kDistance lanes.
  template <int kDistance>
  WF_AVX512_INLINE void MergeLanes() {
    if constexpr (kDistance > 0) {
      ExchangeLanes<kDistance>();
      MergeLanes<kDistance / 2>();
    }
  }

  template <int kSize>
  WF_AVX512_INLINE void SortLanes() {
    if constexpr (kSize <= L::kCount) {
      ExchangeLanes<kSize - 1>();
      MergeLanes<kSize / 4>();
      SortLanes<2 * kSize>();
    }
  }

  // From groups of half as many vectors that are sorted.
  template <int kSize>
  WF_AVX512_INLINE void SortVectors() {
    if constexpr (kSize < 2 * kVectors) {
      const __m512i backwards = _mm512_loadu_si512(Partners<L, L::kCount - 1>::kLanes.data());
      for (int i = 0; i < kVectors; ++i) {
        const int j = i ^ (kSize - 1);
        if (j < i || j >= kVectors) continue;
        const __m512i a = x[i], b = L::Permuted(x[j], backwards);
        x[i] = L::Least(a, b);
        x[j] = L::Permuted(L::Most(a, kAll<L>, a, b), backwards);
      }
      for (int distance = kSize / 4; distance > 0; distance /= 2) {
        for (int i = 0; i + distance < kVectors; ++i) {
          if ((i & distance) != 0) continue;
          const __m512i a = x[i], b = x[i + distance];
          x[i] = L::Least(a, b);
          x[i + distance] = L::Most(a, kAll<L>, a, b);
        }
      }
      MergeLanes<L::kCount / 2>();
      SortVectors<2 * kSize>();
    }
  }
};

// Of at most as many keys as kVectors vectors have lanes; `to` may be `from`.
template <typename L, int kVectors>
WF_AVX512 void SortFew(const typename L::Key* from, int64_t n, typename L::Key* to) {
  Block<L, kVectors> block;
  const __m512i most = L::All(std::numeric_limits<typename L::Key>::max());
  for (int i = 0; i < kVectors; ++i) block.x[i] = L::Load(most, First<L>(n - i * L::kCount), from + i * L::kCount);
  block.template SortLanes<2>();
  block.template SortVectors<2>();
  for (int i = 0; i < kVectors; ++i) L::Store(to + i * L::kCount, First<L>(n - i * L::kCount), block.x[i]);
}

// Those below `pivot` to the beginning of `to`, the others to the end: how many are below.
template <typename L>
WF_AVX512 int64_t Partition(const typename L::Key* from, int64_t n, typename L::Key* to, typename L::Key pivot) {
  const __m512i limit = L::All(pivot);
  int64_t begin = 0, end = n;
  const auto part = [&](const typename L::Key* at, int64_t count) WF_AVX512_INLINE {
    const __m512i x = L::Load(limit, First<L>(count), at);
    const auto below = L::Below(First<L>(count), x, limit), others = static_cast<typename L::Mask>(First<L>(count) & ~below);
    const int below_count = std::popcount(below);
    L::Store(to + begin, First<L>(below_count), L::Packed(below, x));
    begin += below_count;
    end -= count - below_count;
    L::Store(to + end, First<L>(count - below_count), L::Packed(others, x));
  };
  int64_t i = 0;
  for (; i + L::kCount <= n; i += L::kCount) part(from + i, L::kCount);
  if (i < n) part(from + i, n - i);
  return begin;
}

template <typename L>
class Sorter {
  using Key = typename L::Key;
  static constexpr int64_t kMostVectors = 8;

 public:
  explicit Sorter(const wf_ctx* ctx) : ctx_(ctx) {}

  // `from` and `other` lose what they hold; `to` may be either.
  bool Sort(Key* from, int64_t n, Key* other, Key* to, int depth) {
    if (n <= kMostVectors * L::kCount) {
      kOfFew[(n + L::kCount - 1) / L::kCount](from, n, to);
      return true;
    }
    if (depth == 0 || Stopped(ctx_)) return false;
    const Key pivot = Pivot(from, n);
    int64_t below = Partition<L>(from, n, other, pivot);
    if (below != 0) {
      if (!Sort(other, below, from, to, depth - 1)) return false;
    } else {  // the pivot is the least
      below = pivot == std::numeric_limits<Key>::max() ? n : Partition<L>(from, n, other, pivot + 1);
      std::fill_n(to, below, pivot);
    }
    return below == n || Sort(other + below, n - below, from + below, to + below, depth - 1);
  }

 private:
  static Key Pivot(const Key* from, int64_t n) {
    std::array<Key, 2 * L::kCount> some;
    const auto count = static_cast<int64_t>(some.size());
    for (int64_t i = 0; i < count; ++i) some[static_cast<size_t>(i)] = from[i * (n / count)];
    SortFew<L, 2>(some.data(), count, some.data());
    return some[L::kCount];
  }

  using OfFew = void (*)(const Key*, int64_t, Key*);
  static constexpr std::array<OfFew, kMostVectors + 1> kOfFew = {SortFew<L, 1>, SortFew<L, 1>, SortFew<L, 2>, SortFew<L, 3>, SortFew<L, 4>,
                                                                 SortFew<L, 5>, SortFew<L, 6>, SortFew<L, 7>, SortFew<L, 8>};
  const wf_ctx* ctx_;
};

template <typename L>
bool Sorted(const wf_ctx* ctx, std::span<typename L::Key> keys, typename L::Key* spare) {
  const int most_deep = 2 * std::bit_width(keys.size());
  return Sorter<L>(ctx).Sort(keys.data(), static_cast<int64_t>(keys.size()), spare, keys.data(), most_deep);
}

}  // namespace

bool HasVectorsToSort() {
  static const bool has = __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  return has;
}

bool SortKeys(const wf_ctx* ctx, std::span<uint32_t> keys, uint32_t* spare) { return Sorted<Lanes32>(ctx, keys, spare); }
bool SortKeys(const wf_ctx* ctx, std::span<uint64_t> keys, uint64_t* spare) { return Sorted<Lanes64>(ctx, keys, spare); }

}  // namespace wf::nodes
