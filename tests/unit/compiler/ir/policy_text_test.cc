#include "compiler/ir/policy_text.h"

#include <gtest/gtest.h>

namespace wf::ir {
namespace {

TEST(PolicyText, SettingsStandInOneLine) {
  EXPECT_EQ(Joined({}), "");
  EXPECT_EQ(Joined({{"batch", "8 within 1ms"}, {"queue", "64"}}), "batch 8 within 1ms · queue 64");
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
