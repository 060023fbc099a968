#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/ranking.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// Numbers without a sign in the same order; those that are equal have one, NaN the largest.
template <typename T>
auto KeyOf(const T& x) {
  if constexpr (std::is_integral_v<T>) {
    using Key = std::make_unsigned_t<T>;
    constexpr Key kLeast = std::is_signed_v<T> ? static_cast<Key>(Key{1} << (8 * sizeof(T) - 1)) : Key{0};
    return static_cast<Key>(static_cast<Key>(x) ^ kLeast);
  } else if constexpr (std::is_floating_point_v<T>) {
    using Key = std::conditional_t<sizeof(T) == sizeof(uint32_t), uint32_t, uint64_t>;
    constexpr Key kSign = Key{1} << (8 * sizeof(T) - 1);
    if (x != x) return std::numeric_limits<Key>::max();
    const auto bits = std::bit_cast<Key>(x + T{0});  // -0 + 0 is 0
    return static_cast<Key>((bits & kSign) != 0 ? ~bits : bits | kSign);
  } else {
    return KeyOf(static_cast<float>(x));
  }
}

constexpr int kDigitBits = 11;
constexpr int64_t kFew = 512;  // are sorted by comparing before the counts of one digit are cleared

// A step of a radix sort: from `order` to `sorted` by a digit of their keys. False when all have the same.
template <typename T>
bool SortByDigit(std::span<const T> data, int shift, const int64_t* order, int64_t* sorted) {
  const auto digit = [shift](const T& x) { return static_cast<size_t>(KeyOf(x) >> shift) & ((size_t{1} << kDigitBits) - 1); };
  std::array<int64_t, size_t{1} << kDigitBits> places{};
  for (const T& x : data) ++places[digit(x)];
  if (places[digit(data[0])] == static_cast<int64_t>(data.size())) return false;
  std::exclusive_scan(places.begin(), places.end(), places.begin(), int64_t{0});
  for (size_t i = 0; i < data.size(); ++i) sorted[places[digit(data[static_cast<size_t>(order[i])])]++] = order[i];
  return true;
}

template <typename T>
wf_code Sort(wf_ctx* ctx, std::span<const T> data, int64_t* order) {
  const auto n = static_cast<int64_t>(data.size());
  std::iota(order, order + n, int64_t{0});
  if (n <= kFew) {
    std::sort(order, order + n, [x = data.data()](int64_t a, int64_t b) { return IsBelow(x[a], x[b]) || (!IsBelow(x[b], x[a]) && a < b); });
    return 0;
  }
  auto* const spare = static_cast<int64_t*>(wf_alloc(ctx, static_cast<uint64_t>(n) * sizeof(int64_t), alignof(int64_t)));
  if (spare == nullptr) return WF_FAILED;
  int64_t *from = order, *to = spare;
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(KeyOf(data[0]))); shift += kDigitBits) {
    if (Stopped(ctx)) return WF_FAILED;
    if (SortByDigit(data, shift, from, to)) std::swap(from, to);
  }
  if (from != order) std::copy(from, from + n, order);
  return 0;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_argsort(wf_ctx* ctx, const wf_tensor* x, wf_tensor* order) noexcept {
  using namespace wf::nodes;
  const int64_t n = x->dim[0];
  if (Stopped(ctx) || !AllocateTensor(ctx, WF_I64, {&n, 1}, order)) return WF_FAILED;
  wf_code code = 0;
  const bool is_number = VisitElements(*x, [&]<typename T>(const T* data) {
    code = Sort(ctx, std::span(data, static_cast<size_t>(n)), static_cast<int64_t*>(order->data));
  });
  return is_number ? code : Fail(ctx, wf::code::kType, "argsort takes numbers");
}
