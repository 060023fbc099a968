#include "runtime/base/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wf::base {
namespace {

TEST(Half, ConvertsEveryValueThereAndBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double value = DoubleFromHalf(half);
    if (std::isnan(value)) continue;
    ASSERT_EQ(HalfFromDouble(value), half) << bits;
  }
  EXPECT_EQ(HalfFromDouble(1.0 + 0x1p-11), HalfFromDouble(1.0)) << "a tie goes to the even neighbour";
  EXPECT_EQ(HalfFromDouble(1.0 + 3 * 0x1p-11), HalfFromDouble(1.0 + 0x1p-9));
  EXPECT_EQ(BfloatFromDouble(1.0), 0x3f80);
  EXPECT_EQ(BfloatFromDouble(1.0 + 0x1p-8), 0x3f80);
  EXPECT_EQ(BfloatFromDouble(1.0 + 3 * 0x1p-8), 0x3f82);
}

}  // namespace
}  // namespace wf::base
