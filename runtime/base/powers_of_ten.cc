#include "runtime/base/powers_of_ten.h"

#include <array>
#include <bit>
#include <cstddef>

namespace wf::base {
namespace {

// Powers of five and of a fifth in whole numbers of this many words, the least first: 5^330 has 767 bits, and 2^896 / 5^330 still 130.
constexpr size_t kWords = 15, kFractionWords = 14;
using Wide = std::array<uint64_t, kWords>;

constexpr void TimesFive(Wide* value) {
  unsigned __int128 carry = 0;
  for (uint64_t& word : *value) {
    carry += static_cast<unsigned __int128>(word) * 5;
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
}

// Rounded down; of a power of two that was divided so often, nothing else than its quotient by the power of five.
constexpr void DivideByFive(Wide* value) {
  uint64_t rest = 0;
  for (size_t i = kWords; i-- > 0;) {
    const unsigned __int128 part = static_cast<unsigned __int128>(rest) << 64 | (*value)[i];
    (*value)[i] = static_cast<uint64_t>(part / 5);
    rest = static_cast<uint64_t>(part % 5);
  }
}

// The first 128 bits, rounded up where others follow: those of the value, or of what it was rounded down from.
constexpr PowerOfTen FirstBits(const Wide& value, bool more_follows) {
  size_t top = kWords - 1;
  while (value[top] == 0) --top;
  const auto word = [&](size_t below) { return below <= top ? value[top - below] : 0; };
  const int shift = std::countl_zero(value[top]);
  const auto shifted = [&](size_t below) { return shift == 0 ? word(below) : word(below) << shift | word(below + 1) >> (64 - shift); };
  PowerOfTen bits = {shifted(0), shifted(1)};
  bool more = more_follows || (shift == 0 ? word(2) : word(2) << shift) != 0;
  for (size_t below = 3; below <= top; ++below) more = more || word(below) != 0;
  if (more && ++bits.low == 0) ++bits.high;
  return bits;
}

constexpr PowersOfTen Made() {
  PowersOfTen table = {};
  Wide power = {1};
  for (int k = 0; k <= kMostPowerOfTen; ++k) {
    table.rows[k - kLeastPowerOfTen] = FirstBits(power, false);
    TimesFive(&power);
  }
  Wide fraction = {};
  fraction[kFractionWords] = 1;
  for (int k = -1; k >= kLeastPowerOfTen; --k) {
    DivideByFive(&fraction);
    table.rows[k - kLeastPowerOfTen] = FirstBits(fraction, true);
  }
  return table;
}

}  // namespace

constexpr PowersOfTen kPowersOfTen = Made();

}  // namespace wf::base
