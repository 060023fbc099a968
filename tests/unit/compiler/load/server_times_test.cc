#include "compiler/load/server_times.h"

#include <gtest/gtest.h>

#include "compiler/load/report.h"

namespace wf::load {
namespace {

constexpr std::string_view kBefore = R"(# HELP wf_node_compute_seconds text
wf_node_compute_seconds_bucket{workflow="W",node="W/a",le="0.1"} 2
wf_node_compute_seconds_sum{workflow="W",node="W/a"} 2
wf_node_compute_seconds_count{workflow="W",node="W/a"} 4
wf_request_duration_seconds_sum{service="S",workflow="W",protocol="plain"} 1
wf_request_duration_seconds_count{service="S",workflow="W",protocol="plain"} 10
)";
constexpr std::string_view kAfter = R"(wf_node_compute_seconds_sum{workflow="W",node="W/a"} 5
wf_node_compute_seconds_count{workflow="W",node="W/a"} 10
wf_node_compute_seconds_sum{workflow="W",node="W/quiet \"b\\\n"} 1
wf_node_compute_seconds_count{workflow="W",node="W/quiet \"b\\\n"} 1
wf_node_compute_seconds_sum{workflow="W",node="W/idle"} 0
wf_node_compute_seconds_count{workflow="W",node="W/idle"} 0
wf_queue_wait_seconds_sum{workflow="W",node="W/a"} 1e-3
wf_queue_wait_seconds_count{workflow="W",node="W/a"} 2
wf_batch_size_sum{model="m",version="1"} 12
wf_batch_size_count{model="m",version="1"} 4
wf_request_duration_seconds_sum{service="S",workflow="W",protocol="plain"} 2
wf_request_duration_seconds_count{service="S",workflow="W",protocol="plain"} 12
wf_request_duration_seconds_sum{service="S",workflow="W",protocol="grpc"} 3
wf_request_duration_seconds_count{service="S",workflow="W",protocol="grpc"} 2
)";

TEST(ServerTimes, AreWhatHappenedBetweenTwoLooks) {
  const ServerTimes times = Since(ReadServerTimes(kBefore), ReadServerTimes(kAfter));
  EXPECT_DOUBLE_EQ(times.request.mean(), 1.0);  // 4 s of 4 requests
  EXPECT_DOUBLE_EQ(times.batch.mean(), 3.0);
  ASSERT_EQ(times.nodes.size(), 2U);  // without the idle one
  const ServerTimes::Node& node = times.nodes.at({"W", "W/a"});
  EXPECT_DOUBLE_EQ(node.compute.mean(), 0.5);
  EXPECT_DOUBLE_EQ(node.wait.mean(), 0.5e-3);
  EXPECT_TRUE(times.nodes.contains({"W", "W/quiet \"b\\\n"}));
}

TEST(ServerTimes, AreReportedUnderThePathsOfTheMetrics) {
  const Plan plan;
  const Outcome outcome;
  const std::string text = ReportText({.plan = plan, .outcome = outcome, .url = "", .server = ReadServerTimes(kBefore)});
  EXPECT_NE(text.find("\n  W/a "), std::string::npos) << text;
}

TEST(ServerTimes, HaveTheSettingsThatAConfigurationHasChanged) {
  const ServerTimes times = ReadServerTimes(
      "wf_node_setting{workflow=\"W\",node=\"W/a\",setting=\"batch\"} 8\nwf_node_setting{workflow=\"W\",node=\"W/a\",setting=\"within\"} "
      "0.0005\n");
  const std::map<std::string, double> expected = {{"batch", 8}, {"within", 0.0005}};
  EXPECT_EQ(times.settings.at({"W", "W/a"}), expected);
}

TEST(ServerTimes, PassOverWhatCannotBeRead) {
  const ServerTimes times = ReadServerTimes(
      "wf_batch_size_sum{model=\"m 1\nwf_batch_size_sum{model\nwf_batch_size_sum\nwf_batch_size_count{model=\"m\"} x\nwf_{\nwf_x{a=\"b\\");
  EXPECT_EQ(times.batch.sum, 0);
  EXPECT_TRUE(times.nodes.empty());
}

}  // namespace
}  // namespace wf::load
