#include "runtime/server/setting_values.h"

#include <gtest/gtest.h>

#include <optional>

namespace wf::server::setting {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

template <typename Type>
std::optional<int64_t> Read(std::string_view text, const Range& range = {}) {
  Type value{};
  if (!Parse(text, range, &value).empty()) return std::nullopt;
  if constexpr (std::is_base_of_v<Duration, Type>)
    return value.ns;
  else if constexpr (std::is_same_v<Type, Bytes>)
    return value.value;
  else
    return static_cast<int64_t>(value);
}

TEST(SettingValues, AddressesAreNumeric) {
  Address address;
  for (const char* good : {"127.0.0.1", "0.0.0.0", "::", "::1", "fe80::1"}) {
    EXPECT_EQ(Parse(good, {}, &address), "") << good;
    EXPECT_EQ(address, good);
  }
  EXPECT_EQ(Parse("0:0::0:1", {}, &address), "");
  EXPECT_EQ(address, "::1");
  for (const char* bad : {"", "localhost", "300.1.1.1", "127.0.0.1:80", "[::1]", "127.1", " ::1"})
    EXPECT_NE(Parse(bad, {}, &address), "") << bad;
}

TEST(SettingValues, FilesOfSocketsHaveAScheme) {
  UnixFile file;
  EXPECT_EQ(Parse("", {}, &file), "");
  EXPECT_EQ(Parse("unix:/run/a.sock", {}, &file), "");
  EXPECT_EQ(file.path, "/run/a.sock");
  EXPECT_EQ(Parse("unix:" + std::string(107, 'a'), {}, &file), "");
  for (const std::string& bad : {std::string("unix:"), std::string("/run/a.sock"), "unix:" + std::string(108, 'a'), std::string("tcp:1")})
    EXPECT_NE(Parse(bad, {}, &file), "") << bad;
}

TEST(SettingValues, PermissionsAreOctal) {
  FileMode mode;
  for (const auto& [text, bits] : {std::pair<const char*, uint32_t>{"0660", 0660}, {"600", 0600}, {"0777", 0777}, {"0", 0}}) {
    EXPECT_EQ(Parse(text, {}, &mode), "") << text;
    EXPECT_EQ(mode.bits, bits) << text;
  }
  for (const char* bad : {"", "0888", "1000", "-1", "rw", "0x1ff", " 660"}) EXPECT_NE(Parse(bad, {}, &mode), "") << bad;
}

TEST(SettingValues, OriginsAreAsBrowsersWriteThem) {
  Origins origins;
  EXPECT_EQ(Parse("https://a.example, http://localhost:3000 ,null://x, https://a.example:80", {}, &origins), "");
  EXPECT_TRUE(origins.Has("https://a.example") && origins.Has("http://localhost:3000"));
  EXPECT_FALSE(origins.any() || origins.Has("http://a.example") || origins.Has("https://a.example.evil") || origins.Has(""));
  EXPECT_EQ(Parse("*", {}, &origins), "");
  EXPECT_TRUE(origins.any() && origins.Has("https://b.example"));
  EXPECT_EQ(Parse("", {}, &origins), "");
  EXPECT_TRUE(origins.list.empty());
  for (const char* bad : {"https://a.example:443", "http://a.example:80", "a.example", "https://", "://a", "https://A.example",
                          "https://a.example/", "https://*.example", "*, https://a", ","})
    EXPECT_NE(Parse(bad, {}, &origins), "") << bad;
}

TEST(SettingValues, NamesOfFieldsAreTokens) {
  HeaderNames names;
  for (const char* good : {"", "*", "retry-after", "retry-after, wf-seen"}) EXPECT_EQ(Parse(good, {}, &names), "") << good;
  for (const char* bad : {"a b", "a,,b", "a\r\nb: c", "\xc3\xa9"}) EXPECT_NE(Parse(bad, {}, &names), "") << bad;
}

TEST(SettingValues, DurationsHaveUnits) {
  const struct {
    std::string_view text;
    std::optional<int64_t> ns;
  } cases[] = {{"2ms", 2'000'000},
               {"1.5s", 3 * kSecond / 2},
               {"1_000us", 1'000'000},
               {"0s", 0},
               {"0", 0},
               {"30", {}},
               {"", {}},
               {"-1s", {}},
               {"10 ms", {}},
               {" 1s", {}},
               {"1min", {}},
               {"1KiB", {}}};
  for (const auto& at : cases) EXPECT_EQ(Read<Duration>(at.text), at.ns) << at.text;
  EXPECT_EQ(Read<Duration>("9999999999h", {0, 3600 * kSecond}), std::nullopt);
  EXPECT_EQ(Read<Seconds>("30"), 30 * kSecond);
  EXPECT_EQ(Read<Seconds>("30ms"), 30'000'000);
  EXPECT_EQ(Read<Seconds>("9223372037", {0, 3600 * kSecond}), std::nullopt);
}

TEST(SettingValues, SizesHaveUnits) {
  const struct {
    std::string_view text;
    std::optional<int64_t> bytes;
  } cases[] = {{"64MiB", 64 << 20}, {"1KiB", 1024},      {"3GiB", INT64_C(3) << 30},
               {"5B", 5},           {"1.5MiB", 3 << 19}, {"0", 0},
               {"5", {}},           {"1 MiB", {}},       {"1MB", {}},
               {"MiB", {}},         {"-1", {}},          {"1s", {}}};
  for (const auto& at : cases) EXPECT_EQ(Read<Bytes>(at.text), at.bytes) << at.text;
}

TEST(SettingValues, NumbersPortsAndChoices) {
  EXPECT_EQ(Read<Port>("65535"), 65535);
  for (const char* text : {"65536", "-1", "", "80x", "1e3", "99999999999999999999"}) EXPECT_EQ(Read<Port>(text), std::nullopt) << text;
  EXPECT_EQ(Read<Count>("2147483647"), INT32_MAX);
  EXPECT_EQ(Read<Count>("2147483648"), std::nullopt);
  EXPECT_EQ(Read<Switch>("true"), 1);
  EXPECT_EQ(Read<Switch>("false"), 0);
  EXPECT_EQ(Read<Switch>("yes"), std::nullopt);
  EXPECT_EQ(Read<Schedule>("pool"), static_cast<int>(Schedule::kPool));
  EXPECT_EQ(Read<LogLevel>("debug"), static_cast<int>(LogLevel::kDebug));
  OptionalPort port;
  EXPECT_EQ(Parse("", {}, &port), "");
  EXPECT_FALSE(port.value.has_value());
  EXPECT_EQ(Parse("8080", {}, &port), "");
  EXPECT_EQ(port.value, 8080);
}

TEST(SettingValues, CollectorsHaveAHostAndUsuallyNoMore) {
  Collector to;
  const auto is = [&to](std::string_view text, std::string_view host, int port, std::string_view path) {
    return Parse(text, {}, &to).empty() && to.host == host && to.port == port && to.path == path;
  };
  EXPECT_TRUE(is("", "", 0, ""));
  EXPECT_TRUE(is("http://localhost", "localhost", 4318, "/v1/traces"));
  EXPECT_TRUE(is("http://a.example:99/", "a.example", 99, "/v1/traces"));
  EXPECT_TRUE(is("http://10.0.0.1:4318/otel/v1/traces", "10.0.0.1", 4318, "/otel/v1/traces"));
  EXPECT_TRUE(is("http://[::1]:80", "::1", 80, "/v1/traces"));
  EXPECT_TRUE(is("http://[fe80::1]", "fe80::1", 4318, "/v1/traces"));
  for (const char* bad : {"https://a", "a:1", "http://", "http://:1", "http://a:0", "http://a:65536", "http://a:", "http://[::1",
                          "http://[::1]1", "http://a b", "http://a/\r\nx: y", "http://a?x", "http://u@a"})
    EXPECT_NE(Parse(bad, {}, &to), "") << bad;
}

TEST(SettingValues, PartsAreOfOne) {
  Ratio part;
  for (const auto& [text, value] : {std::pair<const char*, double>{"0", 0}, {"1", 1}, {"0.01", 0.01}, {"1.0", 1}, {".5", 0.5}}) {
    EXPECT_EQ(Parse(text, {}, &part), "") << text;
    EXPECT_EQ(part.value, value) << text;
  }
  for (const char* bad : {"", "1%", "1.1", "-0.1", "nan", "inf", "1e-2", "0.5 ", "x"}) EXPECT_NE(Parse(bad, {}, &part), "") << bad;
}

TEST(SettingValues, WhatWasExpectedIsSaidWithTheRange) {
  Duration duration;
  EXPECT_EQ(Parse("2h", {kSecond, 3600 * kSecond}, &duration), "a duration from 1s to 1h") << "it is written well";
  EXPECT_EQ(Parse("2x", {kSecond, 3600 * kSecond}, &duration), "a duration from 1s to 1h, as `1s`");
  EXPECT_EQ(Parse("0", {0, kSecond}, &duration), "");
  EXPECT_EQ(duration.ns, 0);
  Seconds seconds;
  EXPECT_EQ(Parse("x", {}, &seconds), "a duration, as `30` (seconds) or `2m`");
  EXPECT_EQ(Parse("2min", {}, &seconds), "a duration, as `2m`");
  EXPECT_EQ(Parse("10 ms", {}, &duration), "a duration, as `10ms`");
  EXPECT_EQ(Parse("90 seconds", {}, &duration), "a duration, as `90s`");
  EXPECT_EQ(Parse("5M", {}, &duration), "a duration, as `5m`");
  EXPECT_EQ(Parse("90", {1, 3600 * kSecond}, &duration), "a duration from 1ns to 1h, as `90s`");
  EXPECT_EQ(Parse("7200", {1, 3600 * kSecond}, &duration), "a duration from 1ns to 1h, as `1s`") << "who means what it would be beyond?";
  Count count = 0;
  EXPECT_EQ(Parse("0", {1, 16}, &count), "a whole number from 1 to 16");
  EXPECT_EQ(Parse("010", {1, 16}, &count), "a whole number from 1 to 16") << "8 or 10?";
  Bytes bytes;
  EXPECT_EQ(Parse("1KiB", {1 << 20, 1 << 30}, &bytes), "a size from 1MiB to 1GiB");
  EXPECT_EQ(Parse("1TiB", {1 << 20, 1 << 30}, &bytes), "a size from 1MiB to 1GiB, as `64MiB`");
  EXPECT_EQ(Parse("8MB", {}, &bytes), "a size, as `8MiB`");
  EXPECT_EQ(Parse("64k", {}, &bytes), "a size, as `64KiB`");
  EXPECT_EQ(Parse("64_KiB", {}, &bytes), "a size, as `64KiB`");
  EXPECT_EQ(Parse("65536", {}, &bytes), "a size, as `65536B`");
  Schedule schedule{};
  EXPECT_EQ(Parse("always", {}, &schedule), "auto, inline or pool");
}

}  // namespace
}  // namespace wf::server::setting
