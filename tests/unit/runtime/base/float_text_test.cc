#include "runtime/base/float_text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

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

}  // namespace
}  // namespace wf::base
