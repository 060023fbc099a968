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
               {"1_s", {}},
               {"1.5_s", {}},
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
  EXPECT_EQ(ReadMeasure("64_KiB", kSizeUnits), std::nullopt);
}

TEST(Units, ABareNumberTakesTheUnitThatGoesWithoutSaying) {
  EXPECT_EQ(ReadMeasure("30", kTimeUnits, "s"), 30 * kNsPerSecond);
  EXPECT_EQ(ReadMeasure("0.5", kTimeUnits, "s"), kNsPerSecond / 2);
  EXPECT_EQ(ReadMeasure("30ms", kTimeUnits, "s"), 30 * kNsPerMs);
  EXPECT_EQ(ReadMeasure("5u", kTimeUnits, "s"), std::nullopt);
}

TEST(Units, WhatIsMeantIsOneOfTheUnitsThatFit) {
  EXPECT_EQ(UnitMeantBy("min", kTimeUnits), "m");
  EXPECT_EQ(UnitMeantBy("seconds", kTimeUnits), "s");
  EXPECT_EQ(UnitMeantBy("S", kTimeUnits), "s");
  EXPECT_EQ(UnitMeantBy("m", kTimeUnits), "m");
  EXPECT_EQ(UnitMeantBy("m", kSizeUnits), "MiB");
  EXPECT_EQ(UnitMeantBy("MB", kSizeUnits), "MiB");
  EXPECT_EQ(UnitMeantBy("k", kSizeUnits), "KiB");
  EXPECT_EQ(UnitMeantBy("k", kTimeUnits), "");
  EXPECT_EQ(UnitMeantBy("x", kTimeUnits), "");
}

TEST(Units, AMeasureThatIsMeantHasTheNumberAndAUnitOfItsKind) {
  EXPECT_EQ(MeasureMeant("64k", kSizeUnits), "64KiB");
  EXPECT_EQ(MeasureMeant("64mib", kSizeUnits), "64MiB");
  EXPECT_EQ(MeasureMeant("64_KiB", kSizeUnits), "64KiB");
  EXPECT_EQ(MeasureMeant("1.5_s", kTimeUnits), "1.5s");
  EXPECT_EQ(MeasureMeant(" 5 s", kTimeUnits), "5s");
  EXPECT_EQ(MeasureMeant("5 M", kTimeUnits), "5m");
  EXPECT_EQ(MeasureMeant("1_000", kTimeUnits, "s"), "1_000s");
  EXPECT_EQ(MeasureMeant("1_000", kTimeUnits), "");
  EXPECT_EQ(MeasureMeant("5KiB", kTimeUnits, "s"), "");
  EXPECT_EQ(MeasureMeant("s", kTimeUnits, "s"), "");
}

TEST(Units, TheShortestTextOfAMeasureReadsAsTheSame) {
  const std::pair<int64_t, std::string_view> times[] = {{0, "0s"},
                                                        {7, "7ns"},
                                                        {500'000, "500us"},
                                                        {1'234'567, "1234567ns"},
                                                        {1'500'000, "1.5ms"},
                                                        {2'000'000, "2ms"},
                                                        {90 * kNsPerSecond, "90s"},
                                                        {600 * kNsPerSecond, "10m"},
                                                        {5400 * kNsPerSecond, "90m"},
                                                        {86'400 * kNsPerSecond, "24h"},
                                                        {INT64_MAX, "9223372036854775807ns"}};
  for (const auto& [ns, text] : times) {
    EXPECT_EQ(DurationText(ns), text);
    EXPECT_EQ(ReadMeasure(text, kTimeUnits), ns);
  }
  const std::pair<int64_t, std::string_view> sizes[] = {{0, "0B"},       {1000, "1000B"},     {1024, "1KiB"},
                                                        {1536, "1536B"}, {64 << 20, "64MiB"}, {int64_t{1} << 40, "1024GiB"}};
  for (const auto& [bytes, text] : sizes) {
    EXPECT_EQ(SizeText(bytes), text);
    EXPECT_EQ(ReadMeasure(text, kSizeUnits), bytes);
  }
}

TEST(Units, SecondsHaveTheDigitsOfTheDuration) {
  EXPECT_EQ(Seconds(500), 5e-7);
  EXPECT_EQ(Seconds(1'024'000), 0.001024);
  EXPECT_EQ(Seconds(300 * kNsPerSecond), 300);
}

}  // namespace
}  // namespace wf::base
