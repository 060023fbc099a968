#include "runtime/observe/metrics.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/base/units.h"

namespace wf::observe {
namespace {

TEST(Histogram, EveryDurationLiesInItsBucketAndTheBucketsAreNarrow) {
  int64_t begin = 0;
  for (int i = 0; i < Histogram::kBuckets; ++i) {
    const int64_t end = Histogram::EndOf(i);
    ASSERT_LT(begin, end) << i;
    EXPECT_EQ(Histogram::IndexOf(begin), i);
    EXPECT_EQ(Histogram::IndexOf(end - 1), i);
    if (i > 0 && i < Histogram::kBuckets - 1) {
      EXPECT_LE(end - begin, begin / 4) << i;
    }
    begin = end;
  }
  EXPECT_EQ(begin, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Histogram::IndexOf(-5), 0);
}

TEST(Histogram, CountsAndSums) {
  Histogram histogram;
  for (const int64_t ns : {500, 1024, 1200, 1300, -1}) histogram.Add(ns);
  EXPECT_EQ(histogram.count(0), 2u);
  EXPECT_EQ(histogram.count(1), 2u);
  EXPECT_EQ(histogram.count(2), 1u);
  EXPECT_EQ(histogram.sum_ns(), 4024u);
}

TEST(Metrics, AFamilyHasItsHelpTypeAndSamples) {
  MetricsText text;
  text.Family("wf_x_total", "counter", "Back\\slash, \"quote\",\nnew line.");
  text.Sample({}, 3);
  text.Sample({{"a", "plain"}, {"b", "back\\slash \"quote\"\nnew line"}}, 0.5);
  EXPECT_EQ(text.text(),
            "# HELP wf_x_total Back\\\\slash, \"quote\",\\nnew line.\n"
            "# TYPE wf_x_total counter\n"
            "wf_x_total 3\n"
            "wf_x_total{a=\"plain\",b=\"back\\\\slash \\\"quote\\\"\\nnew line\"} 0.5\n");
}

TEST(Metrics, NumbersThatAreNoneAreWrittenAsTheFormatSays) {
  MetricsText text;
  text.Family("x", "gauge", "X.");
  text.Sample({}, std::numeric_limits<double>::quiet_NaN());
  text.Sample({}, std::numeric_limits<double>::infinity());
  text.Sample({}, -std::numeric_limits<double>::infinity());
  EXPECT_NE(text.text().find("x NaN\nx +Inf\nx -Inf\n"), std::string::npos) << text.text();
}

TEST(Metrics, BucketsAddUpAndEndWithInfinity) {
  MetricsText text;
  text.Family("h", "histogram", "H.");
  const double ends[] = {1, 2, 4};
  const uint64_t counts[] = {5, 0, 2, 1};
  text.Buckets({{"model", "m"}}, ends, counts, 17);
  EXPECT_EQ(text.text(),
            "# HELP h H.\n# TYPE h histogram\n"
            "h_bucket{model=\"m\",le=\"1\"} 5\n"
            "h_bucket{model=\"m\",le=\"2\"} 5\n"
            "h_bucket{model=\"m\",le=\"4\"} 7\n"
            "h_bucket{model=\"m\",le=\"+Inf\"} 8\n"
            "h_sum{model=\"m\"} 17\n"
            "h_count{model=\"m\"} 8\n");
}

TEST(Metrics, HistogramsOfSeveralThreadsAreMerged) {
  Histogram one, two;
  one.Add(100);        // below the first power
  one.Add(1'500'000);  // 1.5 ms
  two.Add(1'500'000);
  two.Add(INT64_C(1) << 40);  // above the last
  MetricsText text;
  text.Family("d_seconds", "histogram", "D.");
  const Histogram* parts[] = {&one, &two};
  text.Durations({}, parts);
  EXPECT_NE(text.text().find("d_seconds_bucket{le=\"1.024e-06\"} 1\n"), std::string::npos) << text.text();
  EXPECT_NE(text.text().find("d_seconds_bucket{le=\"0.001048576\"} 1\n"), std::string::npos) << text.text();
  EXPECT_NE(text.text().find("d_seconds_bucket{le=\"0.002097152\"} 3\n"), std::string::npos) << text.text();
  EXPECT_NE(text.text().find("d_seconds_bucket{le=\"+Inf\"} 4\n"), std::string::npos) << text.text();
  EXPECT_NE(text.text().find("d_seconds_count 4\n"), std::string::npos) << text.text();
}

TEST(MetricsText, SecondsHaveTheFewestDigits) {
  MetricsText text;
  text.Family("x", "histogram", "y");
  const double ends[] = {base::Seconds(500), base::Seconds(1'024'000)};
  const uint64_t counts[] = {1, 2};
  text.Buckets({}, ends, counts, base::Seconds(300'000));
  const std::string shown(text.text());
  for (const char* line : {"x_bucket{le=\"5e-07\"} 1\n", "x_bucket{le=\"0.001024\"} 3\n", "x_sum 0.0003\n"})
    EXPECT_NE(shown.find(line), std::string::npos) << shown;
}

}  // namespace
}  // namespace wf::observe
