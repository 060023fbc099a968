#include "runtime/base/float_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
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

void ExpectTexts(std::initializer_list<std::pair<double, const char*>> wanted) {
  for (const auto& [value, text] : wanted) EXPECT_EQ(TextOf(value), text);
}

TEST(PutFloat, WritesAllPlacesWherePeopleReadThem) {
  ExpectTexts({{100000.0, "100000"},
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
               {1e100, "1e+100"}});
  EXPECT_EQ(TextOf(1e15F), "1000000000000000");
  EXPECT_EQ(TextOf(2e7F), "20000000");
  EXPECT_EQ(TextOf(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(TextOf(std::numeric_limits<float>::quiet_NaN()), "nan");
}

TEST(PutFloat, WritesAllDigitsOfLargeWholeNumbersWhereAnExponentIsNoShorter) {
  ExpectTexts({{9007199254740994.0, "9007199254740994"},
               {12345678901234567890.0, "12345678901234567168"},
               {-12345678901234567890.0, "-12345678901234567168"},
               {1.2345e20, "1.2345e+20"},
               {1e22, "1e+22"}});
  EXPECT_EQ(TextOf(123456789.0F), "123456792");
  EXPECT_EQ(TextOf(123456789012.0F), "123456790528");
  EXPECT_EQ(TextOf(1.2345678e16F), "1.2345678e+16");
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

// By the standard library, whose shorter form of two has an exponent where people would read none.
template <typename T>
std::string TextByLibrary(T value) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";
  char buffer[64];
  const std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  const size_t mark = text.find('e');
  if (mark == std::string::npos) return text;
  const int exponent = std::stoi(text.substr(mark + 1));
  if (exponent < -4 || exponent > 15) return text;
  std::string digits = text.substr(0, mark);
  std::erase_if(digits, [](char c) { return c == '.' || c == '-'; });
  const std::string sign(text[0] == '-' ? 1 : 0, '-');
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  return sign + digits + std::string(static_cast<size_t>(exponent + 1) - digits.size(), '0');
}

template <typename T>
void IsAsByLibrary(T value) {
  ASSERT_EQ(TextOf(value), TextByLibrary(value));
}

TEST(PutFloat, WritesWhatTheLibraryFinds) {
  std::mt19937_64 dice(11);
  for (int i = 0; i < 300'000; ++i) {
    const uint64_t bits = dice();
    IsAsByLibrary(std::bit_cast<double>(bits));
    IsAsByLibrary(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    const double near = std::ldexp(static_cast<double>(bits >> 11), static_cast<int>(dice() % 90) - 100);  // of the size of most numbers
    IsAsByLibrary(near);
    IsAsByLibrary(static_cast<float>(near));
    const double few = static_cast<double>(bits % 100'000) / std::pow(10.0, static_cast<double>(dice() % 12));
    IsAsByLibrary(-few);
    IsAsByLibrary(static_cast<float>(few));
  }
}

TEST(PutFloat, WritesTheEdgesOfEveryExponentAsTheLibraryDoes) {
  const auto around = [](auto value) {
    using T = decltype(value);
    IsAsByLibrary(value);
    IsAsByLibrary(std::nextafter(value, T{0}));
    IsAsByLibrary(std::nextafter(value, std::numeric_limits<T>::infinity()));
  };
  for (int exponent = -1074; exponent < 1024; ++exponent) around(std::ldexp(1.0, exponent));
  for (int exponent = -149; exponent < 128; ++exponent) around(std::ldexp(1.0F, exponent));
  for (int exponent = -323; exponent <= 308; ++exponent) around(std::strtod(("1e" + std::to_string(exponent)).c_str(), nullptr));
  for (int exponent = -45; exponent <= 38; ++exponent) around(std::strtof(("1e" + std::to_string(exponent)).c_str(), nullptr));
  around(std::numeric_limits<double>::max());
  around(std::numeric_limits<float>::max());
  around(9007199254740991.0);
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
