#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/radix.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/sort_keys.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

template <typename T>
using KeyType = std::make_signed_t<decltype(KeyOf(std::declval<T>()))>;

template <typename T>
constexpr auto kSign = static_cast<std::make_unsigned_t<KeyType<T>>>(std::numeric_limits<KeyType<T>>::min());

template <typename T>
[[gnu::always_inline]] inline KeyType<T> SignedKeyOf(const T& x) {
  return static_cast<KeyType<T>>(KeyOf(x) ^ kSign<T>);
}

template <typename T>
[[gnu::always_inline]] inline void ToKeys(std::span<const T> data, KeyType<T>* keys) {
  for (size_t i = 0; i < data.size(); ++i) keys[i] = SignedKeyOf(data[i]);
}

template <typename T>
[[gnu::always_inline]] inline void OfKeys(std::span<const KeyType<T>> keys, T* data) {
  for (size_t i = 0; i < keys.size(); ++i) {
    const KeyType<T> key = keys[i];
    if constexpr (std::is_floating_point_v<T>) {
      data[i] = std::bit_cast<T>(key < 0 ? static_cast<KeyType<T>>(~key ^ std::numeric_limits<KeyType<T>>::min()) : key);
    } else {
      data[i] = static_cast<T>(std::is_signed_v<T> ? key : static_cast<KeyType<T>>(static_cast<std::make_unsigned_t<T>>(key) ^ kSign<T>));
    }
  }
}

#define WF_AVX2 __attribute__((target("avx2")))
#define WF_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl")))

template <typename T>
WF_AVX2 void ToKeysInAvx2(std::span<const T> data, KeyType<T>* keys) {
  ToKeys(data, keys);
}
template <typename T>
WF_AVX512 void ToKeysInAvx512(std::span<const T> data, KeyType<T>* keys) {
  ToKeys(data, keys);
}
template <typename T>
WF_AVX2 void OfKeysInAvx2(std::span<const KeyType<T>> keys, T* data) {
  OfKeys<T>(keys, data);
}
template <typename T>
WF_AVX512 void OfKeysInAvx512(std::span<const KeyType<T>> keys, T* data) {
  OfKeys<T>(keys, data);
}

// Numbers that share a key, as 0 and -0 do and NaN of several bits, in the order of `data`.
template <typename T>
void Restore(std::span<const T> data, KeyType<T> key, std::span<const KeyType<T>> keys, T* sorted) {
  const auto [first, last] = std::equal_range(keys.begin(), keys.end(), key);
  if (first != last)
    std::copy_if(data.begin(), data.end(), sorted + (first - keys.begin()), [key](const T& x) { return SignedKeyOf(x) == key; });
}

// False when nothing is sorted.
template <typename T>
bool SortInVectors(const wf_ctx* ctx, std::span<const T> data, T* sorted, void* spare) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= sizeof(uint32_t)) {
    const SortVectors by = VectorsToSort();
    if (by == SortVectors::kNone) return false;
    const std::span keys(static_cast<KeyType<T>*>(spare), data.size());
    (by == SortVectors::kAvx512 ? ToKeysInAvx512<T> : ToKeysInAvx2<T>)(data, keys.data());
    if (!SortKeys(ctx, keys, reinterpret_cast<KeyType<T>*>(sorted), by)) return false;
    (by == SortVectors::kAvx512 ? OfKeysInAvx512<T> : OfKeysInAvx2<T>)(keys, sorted);
    if constexpr (std::is_floating_point_v<T>) {
      for (const T shared : {T{0}, std::numeric_limits<T>::quiet_NaN()}) Restore<T>(data, SignedKeyOf(shared), keys, sorted);
    }
    return true;
  }
  return false;
}

template <typename T>
wf_code Sort(wf_ctx* ctx, std::span<const T> data, T* sorted) {
  if (static_cast<int64_t>(data.size()) <= kFewToSort) {
    std::copy(data.begin(), data.end(), sorted);
    std::stable_sort(sorted, sorted + data.size(), [](const T& a, const T& b) { return IsBelow(a, b); });
    return 0;
  }
  T* const spare = static_cast<T*>(wf_alloc(ctx, data.size_bytes(), alignof(T)));
  if (spare == nullptr) return WF_FAILED;
  if (SortInVectors(ctx, data, sorted, spare)) return 0;
  Radix<T> radix(data);
  std::span<const T> from = data;
  T *to = sorted, *other = spare;
  for (int digit = 0; digit < Radix<T>::kDigits; ++digit) {
    if (Stopped(ctx)) return WF_FAILED;
    if (!radix.Sort(digit, from, to, [](const T& x) { return x; })) continue;
    from = {to, data.size()};
    std::swap(to, other);
  }
  if (from.data() != sorted) std::copy(from.begin(), from.end(), sorted);
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_sort(wf_ctx* ctx, const wf_tensor* x, wf_tensor* sorted) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (Stopped(ctx) || !AllocateTensor(ctx, x->dtype, {&n, 1}, sorted)) return WF_FAILED;
  wf_code code = 0;
  const bool is_number = VisitElements(
      *x, [&]<typename T>(const T* data) { code = Sort(ctx, std::span(data, static_cast<size_t>(n)), static_cast<T*>(sorted->data)); });
  return is_number ? code : Fail(ctx, wf::code::kType, "sort takes numbers");
}
