#pragma once

#include <cstdint>

namespace wf::base {

// What texts of numbers are read and written with.

inline constexpr int kLeastPowerOfTen = -330, kMostPowerOfTen = 330;  // all that a double needs, subnormal ones too

// floor(log2(10^k)) and floor(log10(2^k)), of all k that a double meets.
constexpr int FloorLog2OfTenTo(int k) { return (k * 1741647) >> 19; }
constexpr int FloorLog10OfTwoTo(int k) { return (k * 1262611) >> 22; }

// 10^k is `high:low` x 2^(FloorLog2OfTenTo(k) - 127), whose first bit is one. What 128 bits do not hold is rounded up: then 10^k is less
// than it, by less than one of its last place.
struct PowerOfTen {
  uint64_t high, low;
};
struct PowersOfTen {
  PowerOfTen rows[kMostPowerOfTen - kLeastPowerOfTen + 1];
};
extern const PowersOfTen kPowersOfTen;

// REQUIRES: kLeastPowerOfTen <= k <= kMostPowerOfTen.
inline const PowerOfTen& TenTo(int k) { return kPowersOfTen.rows[k - kLeastPowerOfTen]; }
inline bool IsExactTenTo(int k) { return k >= 0 && k <= 55; }  // 5^55 is the last that 128 bits hold

}  // namespace wf::base
