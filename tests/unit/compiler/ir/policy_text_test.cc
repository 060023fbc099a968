#include "compiler/ir/policy_text.h"

#include <gtest/gtest.h>

namespace wf::ir {
namespace {

TEST(PolicyText, SettingsStandInOneLine) {
  EXPECT_EQ(Joined({}), "");
  EXPECT_EQ(Joined({{"batch", "8 within 1ms"}, {"queue", "64"}}), "batch 8 within 1ms · queue 64");
}

TEST(SettingsOf, AQueueThatNothingIsWrittenAboutTakesEightBatchesAndAtLeast64Rows) {
  const auto queue = [](uint32_t batch_max, bool batched, uint32_t written = 0) {
    Policy policy;
    policy.batch_max = batch_max;
    policy.queue_max = written;
    return SettingsOf(policy, batched)[1];
  };
  const auto rows = [](const char* count) { return std::pair<std::string, std::string>("queue", count); };
  EXPECT_EQ(queue(0, true), rows("256"));
  EXPECT_EQ(queue(9, true), rows("72"));
  EXPECT_EQ(queue(8, true), rows("64"));
  EXPECT_EQ(queue(1, true), rows("64"));
  EXPECT_EQ(queue(0, false), rows("64"));
  EXPECT_EQ(queue(1, true, 1), rows("1"));
}

TEST(SettingsOf, SaysTimesAndPriorityWhereNoModelIsCalled) {
  Policy policy;
  policy.batch_max = 32;
  EXPECT_TRUE(SettingsOf(policy, std::nullopt).empty());
  policy.timeout_ns = 5'000'000;
  EXPECT_EQ(SettingsOf(policy, std::nullopt), (Settings{{"timeout", "5ms"}}));
  policy.priority = 0;
  EXPECT_EQ(SettingsOf(policy, std::nullopt), (Settings{{"priority", "high"}, {"timeout", "5ms"}}));
  EXPECT_EQ(SettingsOf(policy, true).front(), (std::pair<std::string, std::string>("batch", "32")));
}

}  // namespace
}  // namespace wf::ir
