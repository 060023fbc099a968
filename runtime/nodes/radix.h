#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

// Stable sorting of long vectors by the digits of their elements' keys, the lowest first. (Knuth, The Art of Computer Programming
// 3, 5.2.5.)
namespace wf::nodes {

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

// The order of top_k: larger numbers have lower keys, NaN the largest.
struct Descending {
  template <typename T>
  auto operator()(const T& x) const {
    const auto key = KeyOf(x);
    if constexpr (std::is_integral_v<T>) return static_cast<decltype(KeyOf(x))>(~key);
    return key == std::numeric_limits<decltype(KeyOf(x))>::max() ? key : static_cast<decltype(KeyOf(x))>(~key);
  }
};
struct Ascending {
  template <typename T>
  auto operator()(const T& x) const {
    return KeyOf(x);
  }
};

inline constexpr int64_t kFewToSort = 512;  // are sorted by comparing before the counts of one digit are cleared

// Vectors of T: how often each digit of their keys stands there, counted in one walk.
template <typename T, typename Order = Ascending>
class Radix {
 public:
  static constexpr int kDigitBits = 11, kKeyBits = static_cast<int>(8 * sizeof(decltype(KeyOf(std::declval<T>()))));
  static constexpr int kDigits = (kKeyBits + kDigitBits - 1) / kDigitBits;

  explicit Radix(std::span<const T> data) : size_(static_cast<int64_t>(data.size())) {
    for (const T& x : data) {
      for (int at = 0; at < kDigits; ++at) ++counts_[static_cast<size_t>(at)][Digit(x, at)];
    }
  }

  // From `from` to `to` by a digit; an item's element is value(item). False when all have the same: nothing is moved.
  template <typename Item, typename Value>
  bool Sort(int digit, std::span<const Item> from, Item* to, Value&& value) {
    auto& places = counts_[static_cast<size_t>(digit)];
    if (places[Digit(value(from[0]), digit)] == size_) return false;
    std::exclusive_scan(places.begin(), places.end(), places.begin(), int64_t{0});
    for (const Item& item : from) to[places[Digit(value(item), digit)]++] = item;
    return true;
  }

 private:
  static size_t Digit(const T& x, int digit) {
    return static_cast<size_t>(Order()(x) >> (digit * kDigitBits)) & ((size_t{1} << kDigitBits) - 1);
  }

  const int64_t size_;
  std::array<std::array<int64_t, size_t{1} << kDigitBits>, kDigits> counts_{};
};

// Where the elements of `data` stand in that order. `spare` has as many places. stopped() is asked between the digits; then the order is
// none, and it is false.
template <typename Order, typename T, typename Asked>
bool SortPlaces(std::span<const T> data, int64_t* order, int64_t* spare, const Asked& stopped) {
  const auto n = static_cast<int64_t>(data.size());
  std::iota(order, order + n, int64_t{0});
  Radix<T, Order> radix(data);
  int64_t *from = order, *to = spare;
  for (int digit = 0; digit < Radix<T>::kDigits; ++digit) {
    if (stopped()) return false;
    const std::span<const int64_t> items(from, data.size());
    if (radix.Sort(digit, items, to, [x = data.data()](int64_t at) { return x[at]; })) std::swap(from, to);
  }
  if (from != order) std::copy(from, from + n, order);
  return true;
}

}  // namespace wf::nodes
