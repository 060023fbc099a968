#include "runtime/base/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "runtime/abi/values.h"

namespace wf::base {
namespace {

Number Scan(const std::string& text) {
  Number number;
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  EXPECT_TRUE(ScanNumber(begin, begin + text.size(), &number)) << text;
  return number;
}

bool IsNumber(const std::string& text) {
  Number number;
  const auto* begin = reinterpret_cast<const uint8_t*>(text.data());
  return ScanNumber(begin, begin + text.size(), &number) && number.end == begin + text.size();
}

TEST(ScanNumber, TakesTheGrammarOfJsonAndNothingElse) {
  for (const char* text : {"0", "-0", "1", "-12", "1.5", "1e3", "1E+3", "1e-3", "0.0", "0e0", "123456789012345678901234567890"})
    EXPECT_TRUE(IsNumber(text)) << text;
  for (const char* text : {"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "nan", "inf", "0x10", "1_000", "--1"})
    EXPECT_FALSE(IsNumber(text)) << text;
}

template <typename T>
Stored Store(const std::string& text, uint32_t dtype, T* out) {
  return StoreNumber(Scan(text), dtype, out);
}

TEST(StoreNumber, ChecksTheRangeOfEveryInteger) {
  struct Case {
    uint32_t dtype;
    const char *least, *below, *most, *above;
  };
  const Case cases[] = {
      {WF_I8, "-128", "-129", "127", "128"},
      {WF_I16, "-32768", "-32769", "32767", "32768"},
      {WF_I32, "-2147483648", "-2147483649", "2147483647", "2147483648"},
      {WF_I64, "-9223372036854775808", "-9223372036854775809", "9223372036854775807", "9223372036854775808"},
      {WF_U8, "-0", "-1", "255", "256"},
      {WF_U16, "0", "-1", "65535", "65536"},
      {WF_U32, "0", "-1", "4294967295", "4294967296"},
      {WF_U64, "0", "-1", "18446744073709551615", "18446744073709551616"},
  };
  for (const Case& c : cases) {
    uint64_t out = 0;
    EXPECT_EQ(Store(c.least, c.dtype, &out), Stored::kOk) << c.least;
    EXPECT_EQ(Store(c.below, c.dtype, &out), Stored::kOutOfRange) << c.below;
    EXPECT_EQ(Store(c.most, c.dtype, &out), Stored::kOk) << c.most;
    EXPECT_EQ(Store(c.above, c.dtype, &out), Stored::kOutOfRange) << c.above;
    EXPECT_EQ(Store("1.0", c.dtype, &out), Stored::kNotInteger);
    EXPECT_EQ(Store("1e2", c.dtype, &out), Stored::kNotInteger);
  }
  int64_t least = 0;
  EXPECT_EQ(Store("-9223372036854775808", WF_I64, &least), Stored::kOk);
  EXPECT_EQ(least, std::numeric_limits<int64_t>::min());
}

TEST(StoreNumber, RoundsToTheNearestFloat) {
  for (const char* text :
       {"0.1", "3.4028234663852886e38", "1e-45", "16777217", "1.00000005960464477539062", "8.5", "0.34901960784313724", "-2.5e-40",
        "7.0385307e-26", "1234567890123456789012", "0.000000000000000000000000000000000000011754943508222875"}) {
    float out = 0;
    EXPECT_EQ(Store(text, WF_F32, &out), Stored::kOk) << text;
    EXPECT_EQ(out, std::strtof(text, nullptr)) << text;
    double wide = 0;
    EXPECT_EQ(Store(text, WF_F64, &wide), Stored::kOk) << text;
    EXPECT_EQ(wide, std::strtod(text, nullptr)) << text;
  }
}

TEST(StoreNumber, RoundsRandomTextsLikeTheLibrary) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    float value;
    std::memcpy(&value, &bits, 4);
    if (!std::isfinite(value)) continue;
    char text[80];
    std::snprintf(text, sizeof text, "%.*g", static_cast<int>(1 + random() % 20), static_cast<double>(value));
    std::string json(text);
    if (const size_t plus = json.find("e+"); plus != std::string::npos) json.erase(plus + 1, 1);
    float out = 0;
    const float expected = std::strtof(json.c_str(), nullptr);
    if (std::isinf(expected)) continue;
    ASSERT_EQ(Store(json, WF_F32, &out), Stored::kOk) << json;
    ASSERT_EQ(out, expected) << json;
  }
}

void IsReadAsByLibrary(const std::string& text) {
  double expected = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
  if (error != std::errc()) return;
  double wide = 1;
  ASSERT_EQ(Store(text, WF_F64, &wide), Stored::kOk) << text;
  ASSERT_EQ(std::memcmp(&wide, &expected, sizeof wide), 0) << text;
}

TEST(StoreNumber, ReadsDoublesLikeTheLibrary) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    char text[64];
    IsReadAsByLibrary({text, std::to_chars(text, text + sizeof text, value).ptr});
    IsReadAsByLibrary(
        {text, std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, static_cast<int>(random() % 19)).ptr});
    std::snprintf(text, sizeof text, "%s%llu.%0*llue%d", random() % 2 == 0 ? "-" : "", static_cast<unsigned long long>(random() % 1000),
                  static_cast<int>(1 + random() % 16), static_cast<unsigned long long>(random() % 10),
                  static_cast<int>(random() % 660) - 340);
    IsReadAsByLibrary(text);
  }
}

// What a double holds exactly, as 0.5 or -3.625, and the neighbours of that in the last digit.
TEST(StoreNumber, ReadsFractionsOfPowersOfTwoLikeTheLibrary) {
  for (int places = 1; places <= 24; ++places) {
    for (uint64_t numerator = 1; numerator < 2000; numerator += 2) {
      char text[64];
      const double value = std::ldexp(static_cast<double>(numerator), -places);
      std::string digits(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr);
      IsReadAsByLibrary(digits);
      IsReadAsByLibrary("-" + digits + "000");
      IsReadAsByLibrary(digits + "e" + std::to_string(places - 12));
      ++digits.back();  // a digit other than 9: they end with 5
      IsReadAsByLibrary(digits);
      float single = 0;
      ASSERT_EQ(Store(digits, WF_F32, &single), Stored::kOk) << digits;
      ASSERT_EQ(single, std::strtof(digits.c_str(), nullptr)) << digits;
    }
  }
}

// Numbers half way between two doubles, exactly and a digit of the last place beside.
TEST(StoreNumber, RoundsHalvesToEven) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t half = (random() >> 10 | uint64_t{1} << 53) | 1;  // one bit more than a mantissa has
    for (const uint64_t value : {half - 1, half, half + 1}) {
      IsReadAsByLibrary(std::to_string(value));
      IsReadAsByLibrary(std::to_string(value) + "e" + std::to_string(random() % 40));
      IsReadAsByLibrary(std::to_string(value) + "e-" + std::to_string(random() % 40));
    }
    IsReadAsByLibrary(std::to_string(half) + ".5");
    IsReadAsByLibrary(std::to_string(half * 5) + "e-1");
  }
}

TEST(StoreNumber, ReadsTheEdgesOfDoubles) {
  for (const char* text :
       {"0e400", "-0e-400", "0.0", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072014e-308",
        "2.2250738585072011e-308", "1.7976931348623157e308", "1.7976931348623158e308", "9007199254740993", "18446744073709551615",
        "18446744073709551616", "0.000000000000000000000000000000000000000000000000000000000000001", "1e22", "1e23", "8.5e-330", "1e330"})
    IsReadAsByLibrary(text);
  double wide = 0;
  EXPECT_EQ(Store("1.7976931348623159e308", WF_F64, &wide), Stored::kOutOfRange);
  EXPECT_EQ(Store("1e330", WF_F64, &wide), Stored::kOutOfRange);
}

TEST(ScanNumber, CountsDigitsWhereverTheyEnd) {
  const std::string digits = "1234567890123456789";
  for (size_t count = 1; count <= digits.size(); ++count) {
    for (const char* behind :
         {"", ",", "]        ", " 12345678", ":2345678", "/2345678", "\xff\xff\xff\xff\xff\xff\xff\xff", "e1", "E+1       "}) {
      const std::string text = digits.substr(0, count) + behind;
      const Number number = Scan(text);
      EXPECT_EQ(number.mantissa, std::stoull(digits.substr(0, count))) << text;
      EXPECT_FALSE(number.overflowed);
      const size_t exponent = (behind[0] | 0x20) == 'e' ? std::string(behind).find_last_of('1') + 1 : 0;
      EXPECT_EQ(static_cast<size_t>(number.end - number.begin), count + exponent) << text;
    }
  }
  EXPECT_FALSE(Scan("18446744073709551615").overflowed);
  EXPECT_TRUE(Scan("18446744073709551616").overflowed);
  EXPECT_TRUE(Scan("1844674407370955161600000000").overflowed);
  EXPECT_EQ(Scan("0.00000000000000000000000001").mantissa, 1U);
}

TEST(StoreNumber, RefusesWhatIsTooLargeAndTakesWhatIsTooSmallAsZero) {
  float f = 1;
  EXPECT_EQ(Store("1e39", WF_F32, &f), Stored::kOutOfRange);
  EXPECT_EQ(Store("3.5e38", WF_F32, &f), Stored::kOutOfRange);
  EXPECT_EQ(Store("1e-60", WF_F32, &f), Stored::kOk);
  EXPECT_EQ(f, 0.0F);
  EXPECT_EQ(Store("-0.00000e99999", WF_F32, &f), Stored::kOk);
  EXPECT_EQ(f, 0.0F);
  double d = 1;
  EXPECT_EQ(Store("1e400", WF_F64, &d), Stored::kOutOfRange);
  EXPECT_EQ(Store("1e99999999999", WF_F64, &d), Stored::kOutOfRange);
  EXPECT_EQ(Store("1e-99999999999", WF_F64, &d), Stored::kOk);
  EXPECT_EQ(d, 0.0);
  uint16_t h = 0;
  EXPECT_EQ(Store("65504", WF_F16, &h), Stored::kOk);
  EXPECT_EQ(h, 0x7bff);
  EXPECT_EQ(Store("65520", WF_F16, &h), Stored::kOutOfRange);
  EXPECT_EQ(Store("65519.9999999999999999999", WF_F16, &h), Stored::kOk);
  EXPECT_EQ(h, 0x7bff);
}

// Halves whose double lies half way between two of them, where only digits that no double has tell which is nearer.
TEST(StoreNumber, RoundsToTheNearestHalfByAllDigits) {
  struct Case {
    const char* text;
    uint32_t dtype;
    uint16_t bits;
  };
  const Case cases[] = {
      {"0.0043277740478515625", WF_F16, 0x1c6e},
      {"0.004327774047851562500001", WF_F16, 0x1c6f},
      {"0.00432777404785156249999", WF_F16, 0x1c6e},
      {"-0.004327774047851562500001", WF_F16, 0x9c6f},
      {"432.777404785156250000e-5", WF_F16, 0x1c6e},
      {"43277740.47851562500001e-10", WF_F16, 0x1c6f},
      {"2.98023223876953125e-8", WF_F16, 0x0000},
      {"2.980232238769531250000001e-8", WF_F16, 0x0001},
      {"1.00390625", WF_BF16, 0x3f80},
      {"1.003906250000000000000001", WF_BF16, 0x3f81},
      {"1.01171875", WF_BF16, 0x3f82},
      {"1.011718749999999999999999", WF_BF16, 0x3f81},
  };
  for (const Case& c : cases) {
    uint16_t bits = 0xffff;
    EXPECT_EQ(Store(c.text, c.dtype, &bits), Stored::kOk) << c.text;
    EXPECT_EQ(bits, c.bits) << c.text;
  }
}

TEST(StoreNumber, CountsPlacesAndExponentsHoweverMany) {
  double value = -1;
  for (const size_t zeros : {99'990U, 99'999U, 100'000U, 150'000U}) {
    const std::string text = "0." + std::string(zeros, '0') + "1e";
    EXPECT_EQ(Store(text + std::to_string(zeros), WF_F64, &value), Stored::kOk) << zeros;
    EXPECT_EQ(value, 0.1) << zeros;
    EXPECT_EQ(Store(text + "100005", WF_F64, &value), zeros < 99'700 ? Stored::kOutOfRange : Stored::kOk) << zeros;
    EXPECT_EQ(value, zeros == 150'000 ? 0 : std::pow(10.0, 100'004 - static_cast<double>(zeros))) << zeros;
  }
}

}  // namespace
}  // namespace wf::base
