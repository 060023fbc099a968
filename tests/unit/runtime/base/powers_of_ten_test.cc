#include "runtime/base/powers_of_ten.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace wf::base {
namespace {

using Wide = unsigned __int128;

Wide BitsOf(int k) { return static_cast<Wide>(TenTo(k).high) << 64 | TenTo(k).low; }

TEST(PowersOfTen, AreExactAsLongAs128BitsHoldThem) {
  Wide five = 1;
  for (int k = 0; IsExactTenTo(k); ++k, five *= 5) {
    Wide expected = five;
    while (expected >> 127 == 0) expected <<= 1;
    EXPECT_TRUE(BitsOf(k) == expected) << k;
  }
  EXPECT_FALSE(IsExactTenTo(-1));
  EXPECT_FALSE(IsExactTenTo(56));
}

TEST(PowersOfTen, BeginWithABitAndAgreeWithTheLibrary) {
  for (int k = kLeastPowerOfTen; k <= kMostPowerOfTen; ++k) {
    const PowerOfTen& power = TenTo(k);
    EXPECT_EQ(power.high >> 63, 1U) << k;
    const long double expected = std::strtold(("1e" + std::to_string(k)).c_str(), nullptr);
    const long double found = std::ldexp(static_cast<long double>(power.high), FloorLog2OfTenTo(k) - 63);
    EXPECT_LE(std::fabs(found - expected), std::ldexp(expected, -63)) << k;
  }
}

// 10^k x 10^-k is 2^128 in the words of both, or half of it; what is rounded up adds less than the two words.
TEST(PowersOfTen, AreRoundedUpByLessThanOnePlace) {
  for (int k = 1; k <= kMostPowerOfTen; ++k) {
    const Wide a = BitsOf(k), b = BitsOf(-k);
    const auto a1 = static_cast<uint64_t>(a >> 64), a0 = static_cast<uint64_t>(a), b1 = static_cast<uint64_t>(b >> 64),
               b0 = static_cast<uint64_t>(b);
    const Wide middle = static_cast<Wide>(a1) * b0 + (static_cast<Wide>(a0) * b0 >> 64);
    const Wide other = static_cast<Wide>(a0) * b1 + static_cast<uint64_t>(middle);
    const Wide high = static_cast<Wide>(a1) * b1 + (middle >> 64) + (other >> 64);  // the product's first 128 bits
    const Wide one = static_cast<Wide>(1) << (126 - FloorLog2OfTenTo(k) - FloorLog2OfTenTo(-k));
    EXPECT_TRUE(high == one || high == one + 1) << k;
  }
}

}  // namespace
}  // namespace wf::base
