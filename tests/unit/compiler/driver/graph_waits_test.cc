#include "compiler/driver/graph_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace wf::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node of the stage's own name.
Graph::Stage StageOf(const std::string& name, std::vector<std::string> reads, std::vector<std::string> controls) {
  Graph::Stage stage;
  stage.name = name;
  stage.after = std::move(reads);
  stage.nodes.push_back({.name = name, .path = {}, .after = std::move(controls)});
  return stage;
}

Graph::Control ControlOf(const std::string& name, std::vector<std::string> reads, std::vector<std::string> after) {
  Graph::Control control;
  control.name = name;
  control.reads = std::move(reads);
  control.after = std::move(after);
  return control;
}

TEST(GraphWaits, AChainOfConditionsLeavesTheLast) {
  std::vector<Graph::Stage> stages = {StageOf("a", {}, {}), StageOf("b", {}, {"1"}), StageOf("c", {}, {"2"})};
  ConnectWaits(stages, {ControlOf("1", {"a"}, {}), ControlOf("2", {"b"}, {"1"})});
  EXPECT_THAT(stages[0].waits, IsEmpty());
  EXPECT_THAT(stages[1].waits, ElementsAre("a"));
  EXPECT_THAT(stages[2].waits, ElementsAre("b"));
}

TEST(GraphWaits, WhatNoOtherIsBehindIsSaid) {
  std::vector<Graph::Stage> stages = {StageOf("a", {}, {}), StageOf("b", {}, {}), StageOf("c", {}, {"2"}), StageOf("d", {"c"}, {"2"})};
  ConnectWaits(stages, {ControlOf("1", {"a"}, {}), ControlOf("2", {"b"}, {"1"})});
  EXPECT_THAT(stages[2].waits, ElementsAre("a", "b"));
  EXPECT_THAT(stages[3].waits, IsEmpty()) << "`c`, which it reads, waits for both";
}

TEST(GraphWaits, WrittenStagesInACircleSayEachOther) {
  std::vector<Graph::Stage> stages = {StageOf("a", {}, {"2"}), StageOf("b", {}, {"1"})};
  ConnectWaits(stages, {ControlOf("1", {"a"}, {}), ControlOf("2", {"b"}, {})});
  EXPECT_THAT(stages[0].waits, ElementsAre("b"));
  EXPECT_THAT(stages[1].waits, ElementsAre("a"));
}

TEST(GraphWaits, OthersThatAreWaitedForSayWhatTheyWaitFor) {
  std::vector<Graph::Stage> stages = {StageOf("a", {}, {"3", "1", "unknown", "2"})};
  std::vector<Graph::Control> controls = {ControlOf("1", {}, {}), ControlOf("2", {}, {}), ControlOf("3", {}, {"1"})};
  DropEarlierWaits(stages, controls);
  EXPECT_THAT(stages[0].nodes[0].after, ElementsAre("3", "unknown", "2"));
}

TEST(GraphWaits, ManyConditionsCostNoMoreThanTheirNumber) {
  const size_t count = 10'000;
  std::vector<Graph::Stage> stages = {StageOf("0", {}, {})};
  std::vector<Graph::Control> controls = {ControlOf("if 0", {}, {})};
  for (size_t i = 1; i < count; ++i) {
    const std::string before = std::to_string(i - 1), own = std::to_string(i);
    controls.push_back(ControlOf("if " + own, {before}, {"if " + before}));
    stages.push_back(StageOf(own, {}, {"if " + before, "if " + own}));
  }
  const std::clock_t start = std::clock();
  DropEarlierWaits(stages, controls);
  ConnectWaits(stages, controls);
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 20);  // under a sanitizer; sets of names took minutes
  EXPECT_THAT(stages.back().nodes[0].after, ElementsAre("if " + std::to_string(count - 1)));
  EXPECT_THAT(stages.back().waits, ElementsAre(std::to_string(count - 2)));
}

}  // namespace
}  // namespace wf::driver
