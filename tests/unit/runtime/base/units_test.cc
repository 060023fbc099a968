#include "runtime/base/units.h"

#include <gtest/gtest.h>

namespace wf::base {
namespace {

TEST(Units, AMeasureIsANumberAndItsUnitAtOnce) {
  const struct {
    std::string_view text;
    std::optional<int64_t> ns;
  } cases[] = {{"2ms", 2'000'000},
               {"0s", 0},
               {"7ns", 7},
               {"5us", 5000},
               {"3m", 180 * kNsPerSecond},
               {"2h", 7200 * kNsPerSecond},
               {"1_000us", 1'000'000},
               {"1.5s", 1'500'000'000},
               {"0.1s", 100'000'000},
               {"1.25us", 1250},
               {"1.0004us", 1000},
               {"2562047h", 9'223'369'200'000'000'000},
               {"9999999h", INT64_MAX},
               {"99999999999999999999s", INT64_MAX},
               {"2", {}},
               {"", {}},
               {"s", {}},
               {"-1s", {}},
               {"+1s", {}},
               {" 1s", {}},
               {"1 s", {}},
               {"1s ", {}},
               {"1.s", {}},
               {".5s", {}},
               {"_1s", {}},
               {"1S", {}},
               {"0x1s", {}},
               {"1e3s", {}},
               {"2min", {}},
               {"2KiB", {}}};
  for (const auto& at : cases) EXPECT_EQ(ReadMeasure(at.text, kTimeUnits), at.ns) << at.text;
  EXPECT_EQ(ReadMeasure("64MiB", kSizeUnits), 64 << 20);
  EXPECT_EQ(ReadMeasure("1.5KiB", kSizeUnits), 1536);
  EXPECT_EQ(ReadMeasure("8GiB", kSizeUnits), int64_t{8} << 30);
  EXPECT_EQ(ReadMeasure("64MB", kSizeUnits), std::nullopt);
}

TEST(Units, ABareNumberTakesTheUnitThatGoesWithoutSaying) {
  EXPECT_EQ(ReadMeasure("30", kTimeUnits, "s"), 30 * kNsPerSecond);
  EXPECT_EQ(ReadMeasure("0.5", kTimeUnits, "s"), kNsPerSecond / 2);
  EXPECT_EQ(ReadMeasure("30ms", kTimeUnits, "s"), 30 * kNsPerMs);
  EXPECT_EQ(ReadMeasure("5u", kTimeUnits, "s"), std::nullopt);
}

TEST(Units, WhatIsMeantIsOneOfTheUnitsThatFit) {
  EXPECT_EQ(UnitMeantBy("min"), "m");
  EXPECT_EQ(UnitMeantBy("seconds", kTimeUnits), "s");
  EXPECT_EQ(UnitMeantBy("MB", kSizeUnits), "MiB");
  EXPECT_EQ(UnitMeantBy("M", kTimeUnits), "");
  EXPECT_EQ(UnitMeantBy("x"), "");
}

}  // namespace
}  // namespace wf::base
