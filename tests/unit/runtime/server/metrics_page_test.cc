#include "runtime/server/metrics_page.h"

#include <gtest/gtest.h>

extern "C" const wf_plan wf_plan_main;

namespace wf::server {
namespace {

TEST(MetricsPage, WhateverARequestEndedAsItIsAbandonedUntilItIsDrained) {
  const Router router(wf_plan_main);
  const oip::Names names(wf_plan_main);
  const base::SystemClock clock;
  const Shared shared{wf_plan_main, router, names, clock};
  sched::EngineStats stats(wf_plan_main);
  const sched::EngineStats* const engines[] = {&stats};
  stats.answered.Add(4);
  stats.failed.Add(3);
  stats.cancelled.Add(2);
  stats.drained.Add(7);
  const auto has = [&](std::string_view line) { return MetricsPage(shared, {.engines = engines}).find(line) != std::string::npos; };
  EXPECT_TRUE(has("\nwf_abandoned_inflight 2\n"));
  stats.drained.Add(2);
  EXPECT_TRUE(has("\nwf_abandoned_inflight 0\n"));
}

TEST(MetricsPage, MemoryOfRequestsStandsBesideWhatItMayBe) {
  const Router router(wf_plan_main);
  const oip::Names names(wf_plan_main);
  const base::SystemClock clock;
  const std::string page = MetricsPage({wf_plan_main, router, names, clock}, {.memory = {.bytes = 4096, .limit_bytes = 1 << 20}});
  EXPECT_NE(page.find("\nwf_request_memory_bytes 4096\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\nwf_request_memory_limit_bytes 1048576\n"), std::string::npos) << page;
}

}  // namespace
}  // namespace wf::server
