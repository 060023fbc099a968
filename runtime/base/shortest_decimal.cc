#include "runtime/base/shortest_decimal.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "runtime/base/powers_of_ten.h"

// Raffaello Giulietti, "The Schubfach way to render doubles": the value and the ends of what rounds to it are scaled by one power of ten,
// so that this interval is at least one unit and less than ten long. What is rounded to odd compares as the exact product would.

namespace wf::base {
namespace {

using Product = unsigned __int128;

uint64_t ScaledToOdd(const PowerOfTen& power, uint64_t value) {
  const auto low = static_cast<uint64_t>(static_cast<Product>(power.low) * value >> 64);
  const Product product = static_cast<Product>(power.high) * value + low;
  const bool rest = static_cast<uint64_t>(product) > 1;  // less is what the power was rounded up by
  return static_cast<uint64_t>(product >> 64) | (rest ? 1 : 0);
}

// floor(log10(3/4 x 2^k)).
int FloorLog10OfThreeQuarters(int k) { return (k * 1262611 - 524031) >> 22; }

// Of mantissa x 2^exponent. `near_below`: the number below is half as far away as the one above.
Decimal Shortest(uint64_t mantissa, int exponent, bool near_below) {
  const int k = near_below ? FloorLog10OfThreeQuarters(exponent) : FloorLog10OfTwoTo(exponent);
  const PowerOfTen& power = TenTo(-k);
  const int shift = exponent + FloorLog2OfTenTo(-k) + 1;
  const uint64_t quarters = 4 * mantissa, odd = mantissa & 1;  // an end of the interval reads as the even number that it lies next to
  const uint64_t at = ScaledToOdd(power, quarters << shift);
  const uint64_t least = ScaledToOdd(power, (quarters - (near_below ? 1 : 2)) << shift) + odd;
  const uint64_t most = ScaledToOdd(power, (quarters + 2) << shift) - odd;

  // Both are worked out and one is masked out, for which one is wanted no branch predictor can tell.
  const uint64_t down = at / 4, tens = down / 10, middle = 4 * down + 2;
  const bool has_tens = least <= 40 * tens, has_tens_up = 40 * tens + 40 <= most;
  const bool has_down = least <= 4 * down, has_up = 4 * down + 4 <= most;
  const bool nearer_up = (at > middle) | ((at == middle) & ((down & 1) != 0));
  const bool up = has_down != has_up ? has_up : nearer_up;
  const bool is_tens = (has_tens != has_tens_up) & (down >= 10);
  const uint64_t mask = UINT64_C(0) - is_tens;
  return {(10 * (tens + has_tens_up) & mask) | ((down + up) & ~mask), k};
}

template <typename T>
Decimal ShortestOf(T value) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  using Limits = std::numeric_limits<T>;
  constexpr int kFractionBits = Limits::digits - 1;
  constexpr int kLeastExponent = Limits::min_exponent - Limits::digits;
  const auto bits = std::bit_cast<Bits>(value);
  const uint64_t fraction = bits & ((Bits{1} << kFractionBits) - 1);
  const int biased = static_cast<int>(bits >> kFractionBits);
  if (biased == 0) return Shortest(fraction, kLeastExponent, false);
  return Shortest(fraction | Bits{1} << kFractionBits, kLeastExponent + biased - 1, fraction == 0 && biased > 1);
}

}  // namespace

Decimal ShortestDecimal(float value) { return ShortestOf(value); }
Decimal ShortestDecimal(double value) { return ShortestOf(value); }

}  // namespace wf::base
