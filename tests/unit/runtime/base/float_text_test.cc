#include "runtime/base/float_text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "runtime/base/half.h"

namespace wf::base {
namespace {

template <typename T>
std::string TextOf(T value) {
  char text[kMostFloatText];
  return {text, PutFloat(text, value)};
}

TEST(PutFloat, WritesAllPlacesWherePeopleReadThem) {
  for (const auto& [value, text] : {std::pair(100000.0, "100000"),
                                    {-100000.0, "-100000"},
                                    {1e15, "1000000000000000"},
                                    {1e16, "1e+16"},
                                    {1.5e16, "1.5e+16"},
                                    {1.25e15, "1250000000000000"},
                                    {0.0001, "0.0001"},
                                    {-0.0001, "-0.0001"},
                                    {0.00001, "1e-05"},
                                    {0.00025, "0.00025"},
                                    {3.0, "3"},
                                    {0.1, "0.1"},
                                    {0.0, "0"},
                                    {-0.0, "-0.0"},
                                    {123456.75, "123456.75"},
                                    {1e100, "1e+100"}})
    EXPECT_EQ(TextOf(value), text);
  EXPECT_EQ(TextOf(1e15F), "1000000000000000");
  EXPECT_EQ(TextOf(2e7F), "20000000");
  EXPECT_EQ(TextOf(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(TextOf(std::numeric_limits<float>::quiet_NaN()), "nan");
}

TEST(PutFloat, WritesWholeNumbersAsIntegers) {
  for (int32_t value = -1'100'000; value <= 1'100'000; value += value % 1000 == 0 ? 1 : 37) {
    if (value == 0) continue;
    ASSERT_EQ(TextOf(static_cast<float>(value)), std::to_string(value));
    ASSERT_EQ(TextOf(static_cast<double>(value)), std::to_string(value));
  }
}

template <typename T>
void ReadsBack(T value) {
  const std::string text = TextOf(value);
  T read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  ASSERT_EQ(end, text.data() + text.size()) << text;
  ASSERT_EQ(std::memcmp(&read, &value, sizeof value), 0) << text;
}

TEST(PutFloat, ReadsBackAsTheSame) {
  std::mt19937_64 dice(5);
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t bits = dice();
    float narrow;
    double wide;
    std::memcpy(&narrow, &bits, sizeof narrow);
    std::memcpy(&wide, &bits, sizeof wide);
    if (std::isfinite(narrow)) ReadsBack(narrow);
    if (std::isfinite(wide)) ReadsBack(wide);
    const int exponent = static_cast<int>(dice() % 24) - 6;
    const double round = static_cast<double>(dice() % 2000) * std::pow(10.0, exponent);  // whose digits are few
    ReadsBack(round);
    ReadsBack(static_cast<float>(round));
  }
}

// Of each value of 16 bits: its text reads back as it, and none of a digit less does.
void IsShortest(char* (*put)(char*, uint16_t), double (*value)(uint16_t), uint16_t (*bits)(double)) {
  for (uint32_t i = 1; i < 0x10000; ++i) {
    const auto narrow = static_cast<uint16_t>(i);
    const double wide = value(narrow);
    if (!std::isfinite(wide)) continue;
    char buffer[kMostFloatText];
    const std::string text(buffer, put(buffer, narrow));
    double read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    ASSERT_EQ(end, text.data() + text.size()) << text;
    ASSERT_EQ(bits(read), narrow) << text;
    if (std::abs(wide) < 1e6 && wide == std::trunc(wide)) continue;
    std::string digits = text.substr(0, text.find('e'));
    std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
    digits = digits.substr(digits.find_first_not_of('0'));
    digits = digits.substr(0, digits.find_last_not_of('0') + 1);
    if (digits.size() < 2) continue;
    const int places = static_cast<int>(digits.size()) - 2;
    const double step = std::pow(10.0, std::floor(std::log10(std::abs(wide))) - places);
    for (const double near : {wide - step, wide, wide + step}) {
      char* const last = std::to_chars(buffer, buffer + kMostFloatText, near, std::chars_format::scientific, places).ptr;
      std::from_chars(buffer, last, read);
      ASSERT_NE(bits(read), narrow) << text << " is longer than " << std::string(buffer, last);
    }
  }
}

TEST(PutHalf, WritesTheFewestDigitsThatReadBack) {
  IsShortest(PutHalf, DoubleFromHalf, HalfFromDouble);
  IsShortest(PutBfloat, [](uint16_t bits) { return double{FloatFromBfloat(bits)}; }, BfloatFromDouble);
  const auto half = [](double value) {
    char text[kMostFloatText];
    return std::string(text, PutHalf(text, HalfFromDouble(value)));
  };
  const auto bfloat = [](double value) {
    char text[kMostFloatText];
    return std::string(text, PutBfloat(text, BfloatFromDouble(value)));
  };
  for (const auto& [value, text] : {std::pair(0.1, "0.1"),
                                    {-0.1, "-0.1"},
                                    {0.0, "0"},
                                    {-0.0, "-0.0"},
                                    {1.0, "1"},
                                    {2.5, "2.5"},
                                    {1e-4, "0.0001"},
                                    {1e-5, "1e-05"},
                                    {-std::numeric_limits<double>::infinity(), "-inf"},
                                    {std::numeric_limits<double>::quiet_NaN(), "nan"}}) {
    EXPECT_EQ(half(value), text);
    EXPECT_EQ(bfloat(value), text);
  }
  EXPECT_EQ(half(65504.0), "65504");
  EXPECT_EQ(half(1.0 / 64), "0.01563") << "0.01562 is as near, and reads back as the value below";
  EXPECT_EQ(bfloat(1.5e10), "15000000000");
  EXPECT_EQ(bfloat(-3e38), "-3e+38");
}

}  // namespace
}  // namespace wf::base
