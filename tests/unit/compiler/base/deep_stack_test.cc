#include "compiler/base/deep_stack.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace wf::source {
namespace {

constexpr size_t kMib = size_t{1} << 20;

TEST(DeepStack, MoreAddressesLeaveTheWorkNoFewer) {
  EXPECT_EQ(DeepStackBytesOf(SIZE_MAX), kDeepStackBytes);
  size_t stack = DeepStackBytesOf(0), left = 0;
  for (size_t mib = 16; mib < 2000; ++mib) {
    const size_t now = DeepStackBytesOf(mib * kMib);
    EXPECT_GE(now, stack) << mib;
    EXPECT_GE(mib * kMib - now, left) << mib;
    stack = now;
    left = mib * kMib - now;
  }
  EXPECT_EQ(stack, kDeepStackBytes);
}

}  // namespace
}  // namespace wf::source
