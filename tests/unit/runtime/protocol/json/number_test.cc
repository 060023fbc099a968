#include "runtime/protocol/json/number.h"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace wf::json {
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
}

}  // namespace
}  // namespace wf::json
