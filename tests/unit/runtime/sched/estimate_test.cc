#include "runtime/sched/estimate.h"

#include <gtest/gtest.h>

namespace wf::sched {
namespace {

TEST(EstimatesTest, LearnsHowFarThePriorIsOff) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  for (int i = 0; i < 100; ++i) estimates.Learn(0, 10'000, 40'000, false, 0);
  EXPECT_NEAR(static_cast<double>(estimates.Of(0, 10'000)), 40'000, 1'000);
  for (int i = 0; i < 1000; ++i) estimates.Learn(0, 10'000, 10'000'000, false, 0);
  EXPECT_LE(estimates.Of(0, 10'000), 80'000);  // samples are clipped
}

TEST(EstimatesTest, OneLongRunBarsATaskFromTheLoopForTenSeconds) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  EXPECT_TRUE(estimates.FitsLoop(0, 50'000, 100'000));
  estimates.Learn(0, 50'000, 1'500'000, true, 0);
  EXPECT_FALSE(estimates.FitsLoop(0, 50'000, 100'000));
  estimates.LiftBars(9'999'999'999);
  EXPECT_FALSE(estimates.FitsLoop(0, 50'000, 100'000));
  estimates.LiftBars(10'000'000'000);
  EXPECT_TRUE(estimates.FitsLoop(0, 50'000, 100'000));
}

TEST(EstimatesTest, ATrivialTaskIsNotBarredBecauseItsLoopWasOffTheCpuOnce) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  estimates.Learn(0, 500, 4'000'000, true, 0);
  EXPECT_TRUE(estimates.FitsLoop(0, 500, 100'000));
  estimates.Learn(0, 500, 4'000'000, true, 0);
  EXPECT_FALSE(estimates.FitsLoop(0, 500, 100'000));
}

TEST(EstimatesTest, KeepsToItsChoiceNearTheLimit) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  EXPECT_TRUE(estimates.FitsLoop(0, 105'000, 100'000));  // began on the loop
  EXPECT_FALSE(estimates.FitsLoop(0, 115'000, 100'000));
  EXPECT_FALSE(estimates.FitsLoop(0, 95'000, 100'000));
  EXPECT_TRUE(estimates.FitsLoop(0, 85'000, 100'000));
}

TEST(EstimatesTest, LoopsLearnFromEachOther) {
  wf_plan plan{};
  plan.n_tasks = 2;
  SharedFactors shared(plan);
  Estimates busy(plan), idle(plan), other(plan);
  for (int i = 0; i < 200; ++i) busy.Learn(0, 10'000, 40'000, false, 0);
  busy.Merge(shared);
  idle.Merge(shared);
  EXPECT_NEAR(static_cast<double>(idle.Of(0, 10'000)), 40'000, 500);  // nothing of its own to say
  EXPECT_EQ(idle.Of(1, 10'000), 10'000);                              // nobody has timed it
  for (int i = 0; i < 200; ++i) other.Learn(0, 10'000, 20'000, false, 0);
  other.Merge(shared);
  busy.Merge(shared);
  EXPECT_NEAR(static_cast<double>(other.Of(0, 10'000)), 30'000, 500);
  EXPECT_EQ(busy.Of(0, 10'000), other.Of(0, 10'000));
}

}  // namespace
}  // namespace wf::sched
