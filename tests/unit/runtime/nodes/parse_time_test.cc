#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

std::string Parsed(std::string_view text) {
  FakeJob job;
  const wf_bytes view = View(text);
  int64_t ns = 0;
  if (wf_n_parse_time(&job.ctx, &view, &ns) == 0) return std::to_string(ns);
  EXPECT_EQ(job.code, 5000) << text;
  return job.message;
}

TEST(ParseTime, ReadsWhatRfc3339Says) {
  EXPECT_EQ(Parsed("1970-01-01T00:00:00Z"), "0");
  EXPECT_EQ(Parsed("1985-04-12t23:20:50.52z"), "482196050520000000");
  EXPECT_EQ(Parsed("1996-12-19 16:39:57-08:00"), "851042397000000000");
  EXPECT_EQ(Parsed("1937-01-01T12:00:27.87+00:20"), "-1041337172130000000");
  EXPECT_EQ(Parsed("1969-12-31T23:59:59.999999999Z"), "-1");
  EXPECT_EQ(Parsed("2000-02-29T00:00:00.1234567899Z"), "951782400123456789");
}

TEST(ParseTime, EndsWhereTimesEnd) {
  EXPECT_EQ(Parsed("1677-09-21T00:12:43.145224192Z"), "-9223372036854775808");
  EXPECT_EQ(Parsed("2262-04-11T23:47:16.854775807Z"), "9223372036854775807");
  EXPECT_NE(Parsed("1677-09-21T00:12:43.145224191Z").find("is not between"), std::string::npos);
  EXPECT_NE(Parsed("2262-04-11T23:47:16.854775808Z").find("is not between"), std::string::npos);
  EXPECT_NE(Parsed("0000-01-01T00:00:00Z").find("is not between"), std::string::npos);
  EXPECT_NE(Parsed("9999-12-31T23:59:59Z").find("is not between"), std::string::npos);
}

TEST(ParseTime, RefusesWhatIsNone) {
  const std::string text = "2026-11-27T06:40:00.5+01:00";
  for (size_t i = 0; i < text.size(); ++i) {
    EXPECT_NE(Parsed(text.substr(0, i)).find(": byte " + std::to_string(i) + " does not fit"), std::string::npos) << i;
    std::string other = text;
    other[i] = '?';
    EXPECT_NE(Parsed(other).find("does not fit"), std::string::npos) << other;
  }
  EXPECT_EQ(Parsed(text + " "), "expected a time as `2026-11-27T06:40:00Z`, found `" + text + " `: byte 27 does not fit");
  EXPECT_EQ(Parsed("2023-02-29T00:00:00Z"), "`2023-02-29T00:00:00Z`: there is no such day");
  EXPECT_EQ(Parsed("2023-00-01T00:00:00Z"), "`2023-00-01T00:00:00Z`: there is no such day");
  EXPECT_EQ(Parsed("2016-12-31T23:59:60Z"), "`2016-12-31T23:59:60Z`: leap seconds are not counted");
  EXPECT_EQ(Parsed("2016-12-31T24:00:00Z"), "`2016-12-31T24:00:00Z`: there is no such time of day");
  EXPECT_EQ(Parsed("2016-12-31T00:00:00+24:00"), "`2016-12-31T00:00:00+24:00`: there is no such offset");
}

TEST(ParseTime, QuotesWhateverTextItFinds) {
  EXPECT_EQ(Parsed(std::string_view("a\0b", 3)), "expected a time as `2026-11-27T06:40:00Z`, found `a?b`: byte 0 does not fit");
  std::string text = "x";
  for (int i = 0; i < 60; ++i) text += "\u00e9";
  EXPECT_EQ(Parsed(text), "expected a time as `2026-11-27T06:40:00Z`, found `" + text.substr(0, 65) + "...`: byte 0 does not fit");
}

TEST(Now, IsTheTimeOfTheSystem) {
  FakeJob job;
  const auto before = static_cast<int64_t>(std::time(nullptr));
  int64_t ns = 0;
  ASSERT_EQ(wf_n_now(&job.ctx, &ns), 0);
  EXPECT_GE(ns / 1'000'000'000, before - 1);
  EXPECT_LE(ns / 1'000'000'000, before + 60);
}

}  // namespace
}  // namespace wf::nodes
