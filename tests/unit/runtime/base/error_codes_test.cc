#include "runtime/base/error_codes.h"

#include <gtest/gtest.h>

namespace wf::base {
namespace {

TEST(ErrorCodes, SpecialOnesComeBeforeTheirClass) {
  EXPECT_EQ(CodeInfoOf(3010).name, "Refused");
  EXPECT_EQ(CodeInfoOf(3010).status, kResourceExhausted);
  EXPECT_EQ(CodeInfoOf(3500).name, "Service");
  EXPECT_EQ(CodeInfoOf(5000).status, kInvalidArgument);
  EXPECT_EQ(CodeInfoOf(7004).name, "Type");
  EXPECT_EQ(CodeInfoOf(100001).status, kInvalidArgument);
}

TEST(ErrorCodes, WhatHasNoClassIsUnknown) {
  for (const int32_t code : {-1, 0, 1, 1000, 10'000, 99'999}) EXPECT_EQ(CodeInfoOf(code).name, "Unknown") << code;
}

}  // namespace
}  // namespace wf::base
