#include "runtime/base/narrow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/base/half.h"

namespace wf::base {
namespace {

constexpr Narrow kFloats[] = {Narrow::kE4M3FN, Narrow::kE4M3FNUZ, Narrow::kE5M2, Narrow::kE5M2FNUZ, Narrow::kE2M1};

double NumberOf(Narrow format, uint8_t code) {
  uint8_t out[2] = {};
  Unpack(format, {&code, 1}, out);
  uint16_t half = 0;
  std::memcpy(&half, out, 2);
  return DoubleFromHalf(half);
}

TEST(Narrow, CodesAreTheNumbersOfTheirFormat) {
  struct Row {
    Narrow format;
    uint8_t code;
    double number;
  };
  const Row rows[] = {
      {Narrow::kE4M3FN, 0x01, 0x1p-9},
      {Narrow::kE4M3FN, 0x38, 1},
      {Narrow::kE4M3FN, 0x7e, 448},
      {Narrow::kE4M3FN, 0xfe, -448},
      {Narrow::kE4M3FNUZ, 0x01, 0x1p-10},
      {Narrow::kE4M3FNUZ, 0x40, 1},
      {Narrow::kE4M3FNUZ, 0x7f, 240},
      {Narrow::kE4M3FNUZ, 0xff, -240},
      {Narrow::kE5M2, 0x01, 0x1p-16},
      {Narrow::kE5M2, 0x3c, 1},
      {Narrow::kE5M2, 0x7b, 57344},
      {Narrow::kE5M2, 0xfc, -HUGE_VAL},
      {Narrow::kE5M2FNUZ, 0x01, 0x1p-17},
      {Narrow::kE5M2FNUZ, 0x40, 1},
      {Narrow::kE5M2FNUZ, 0x7f, 57344},
      {Narrow::kE2M1, 0x1, 0.5},
      {Narrow::kE2M1, 0x7, 6},
      {Narrow::kE2M1, 0xb, -1.5},
  };
  for (const Row& row : rows) EXPECT_EQ(NumberOf(row.format, row.code), row.number) << NarrowName(row.format) << " " << int{row.code};
  for (const auto& [format, code] : {std::pair(Narrow::kE4M3FN, 0x7f),
                                     {Narrow::kE4M3FN, 0xff},
                                     {Narrow::kE4M3FNUZ, 0x80},
                                     {Narrow::kE5M2, 0x7e},
                                     {Narrow::kE5M2FNUZ, 0x80}})
    EXPECT_TRUE(std::isnan(NumberOf(format, static_cast<uint8_t>(code)))) << NarrowName(format);
}

// So a number that a file stores survives every conversion in between.
TEST(Narrow, EachNumberIsItsOwnNearest) {
  for (const Narrow format : kFloats) {
    for (int code = 0; code < (format == Narrow::kE2M1 ? 16 : 256); ++code) {
      const double number = NumberOf(format, static_cast<uint8_t>(code));
      if (std::isnan(number)) continue;
      const float near = NearestOf(format, static_cast<float>(number), false);
      EXPECT_EQ(near, number) << NarrowName(format) << " " << code;
      EXPECT_EQ(std::signbit(near), std::signbit(number)) << NarrowName(format) << " " << code;
    }
  }
}

TEST(Narrow, WhatLiesBetweenGoesToTheNearestAndHalvesToEven) {
  EXPECT_EQ(NearestOf(Narrow::kE4M3FN, 464, false), 448);  // half of what would be 480
  EXPECT_TRUE(std::isnan(NearestOf(Narrow::kE4M3FN, 465, false)));
  EXPECT_EQ(NearestOf(Narrow::kE4M3FN, 465, true), 448);
  EXPECT_EQ(NearestOf(Narrow::kE5M2, -1e6f, false), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(NearestOf(Narrow::kE5M2, -std::numeric_limits<float>::infinity(), true), -57344);
  EXPECT_TRUE(std::isnan(NearestOf(Narrow::kE5M2FNUZ, std::numeric_limits<float>::infinity(), false)));
  EXPECT_EQ(NearestOf(Narrow::kE4M3FN, 0x1p-10f, true), 0);
  EXPECT_EQ(NearestOf(Narrow::kE4M3FN, 0x1.8p-9f, true), 0x1p-8f);
  EXPECT_FALSE(std::signbit(NearestOf(Narrow::kE4M3FNUZ, -0x1p-12f, true)));
  EXPECT_TRUE(std::signbit(NearestOf(Narrow::kE4M3FN, -0x1p-12f, true)));
  EXPECT_EQ(NearestOf(Narrow::kE2M1, 2.5f, true), 2);
  EXPECT_EQ(NearestOf(Narrow::kE2M1, 5.1f, false), 6);
  EXPECT_EQ(NearestOf(Narrow::kE2M1, 100, false), 6) << "there is nothing else for it";
}

TEST(Narrow, TwoOfFourBitsShareAByte) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{5}, size_t{16}, size_t{17}}) {
    for (const Narrow format : {Narrow::kU4, Narrow::kI4, Narrow::kE2M1}) {
      const size_t size = format == Narrow::kE2M1 ? 2 * count : count;
      std::vector<uint8_t> packed(static_cast<size_t>(PackedBytes(format, static_cast<int64_t>(count))));
      for (size_t i = 0; i < count; ++i) packed[i / 2] |= static_cast<uint8_t>((i % 16) << (i % 2 * 4));
      std::vector<uint8_t> apart(size), within(size);
      Unpack(format, packed, apart);
      std::copy(packed.begin(), packed.end(), within.end() - static_cast<std::ptrdiff_t>(packed.size()));
      Unpack(format, std::span(within).last(packed.size()), within);
      EXPECT_EQ(apart, within) << "packed in its own place, " << count;
      for (size_t i = 0; i < count && format != Narrow::kE2M1; ++i) {
        const int want = static_cast<int>(i % 16), negative = format == Narrow::kI4 && want > 7 ? want - 16 : want;
        EXPECT_EQ(apart[i], static_cast<uint8_t>(negative)) << i;
      }
    }
  }
}

}  // namespace
}  // namespace wf::base
