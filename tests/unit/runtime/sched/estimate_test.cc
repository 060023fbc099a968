#include "runtime/sched/estimate.h"

#include <gtest/gtest.h>

namespace wf::sched {
namespace {

constexpr int64_t kFarOff = INT64_C(1) << 38;  // ns, minutes, for a task that mostly takes 4 ms

TEST(EstimatesTest, LearnsHowFarThePriorIsOff) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  for (int i = 0; i < 100; ++i) estimates.Learn(0, 10'000, 40'000, false);
  EXPECT_NEAR(static_cast<double>(estimates.Of(0, 10'000)), 40'000, 1'000);
  EXPECT_EQ(estimates.LeastOf(0, 10'000), 40'000);
  estimates.Learn(0, 10'000, 100'000'000, false);
  EXPECT_LE(estimates.Of(0, 10'000), 60'000) << "one run is not believed in full";
  for (int i = 0; i < 1000; ++i) estimates.Learn(0, 10'000, 10'000'000, false);
  EXPECT_NEAR(static_cast<double>(estimates.Of(0, 10'000)), 10'000'000, 100'000);
  EXPECT_NEAR(static_cast<double>(estimates.LeastOf(0, 10'000)), 10'000'000, 100'000);
}

TEST(EstimatesTest, WhatNoRunHasEndedOfIsNotSureToTakeAnything) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  EXPECT_EQ(estimates.LeastOf(0, kFarOff), 0);
  EXPECT_EQ(estimates.Shown(0, kFarOff), kFarOff);
  estimates.Learn(0, kFarOff, 1'000'000, true);
  EXPECT_EQ(estimates.LeastOf(0, kFarOff), 0) << "how far it came is not known";
}

TEST(EstimatesTest, AGuessThatIsFarTooHighIsCorrectedInFull) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  estimates.Learn(0, kFarOff, 4'000'000, false);
  EXPECT_NEAR(static_cast<double>(estimates.LeastOf(0, kFarOff)), 4'000'000, 1'000);
  EXPECT_EQ(estimates.Shown(0, kFarOff), estimates.LeastOf(0, kFarOff));
}

TEST(EstimatesTest, WhatIsDearForRareInputsIsPlacedByAHighFigureAndRefusesByALowOne) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  for (int i = 0; i < 1000; ++i) estimates.Learn(0, kFarOff, i % 100 == 50 ? kFarOff : 4'000'000, false);
  EXPECT_GE(estimates.Of(0, kFarOff), kFarOff / 8);
  EXPECT_LE(estimates.LeastOf(0, kFarOff), 8'000'000);
}

TEST(EstimatesTest, WhatIsCheapForRareInputsStillRefusesByAboutWhatItTakes) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  for (int i = 0; i < 1000; ++i) estimates.Learn(0, 1'000'000'000, i % 100 == 50 ? 100'000 : 1'000'000'000, false);
  EXPECT_GE(estimates.LeastOf(0, 1'000'000'000), 500'000'000);
  EXPECT_LE(estimates.LeastOf(0, 1'000'000'000), 1'000'000'000);
}

TEST(EstimatesTest, NobodyIsSureToTakeLongerThanTheLongestRun) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  for (int i = 0; i < 100; ++i) estimates.Learn(0, 400'000, 5'000, false);
  EXPECT_EQ(estimates.LeastOf(0, kFarOff), 5'000) << "by the prior it would be 3 s, which nobody has measured";
}

TEST(EstimatesTest, WhatIsBeyondAllThatWasTimedIsPlacedByItsGuess) {
  wf_plan plan{};
  plan.n_tasks = 1;
  SharedFactors shared(plan);
  Estimates estimates(plan), other(plan);
  for (int i = 0; i < 100; ++i) estimates.Learn(0, 100'000, 1'000, false);
  EXPECT_LE(estimates.Of(0, 100'000), 15'000);
  EXPECT_LE(estimates.Of(0, 200'000), 30'000);
  EXPECT_EQ(estimates.Of(0, 400'000), 400'000);
  estimates.Merge(shared);
  other.Merge(shared);
  EXPECT_LE(other.Of(0, 200'000), 30'000);
  EXPECT_EQ(other.Of(0, 400'000), 400'000);
  estimates.Learn(0, 400'000, 4'000, true);
  EXPECT_EQ(estimates.Of(0, 400'000), 400'000) << "how far it came is not known";
  estimates.Learn(0, 400'000, 4'000, false);
  EXPECT_LE(estimates.Of(0, 800'000), 120'000);
}

TEST(EstimatesTest, OneLongRunBarsATaskFromTheLoopForTenSeconds) {
  wf_plan plan{};
  plan.n_tasks = 1;
  Estimates estimates(plan);
  EXPECT_TRUE(estimates.FitsLoop(0, 50'000, 100'000));
  estimates.NoteOnLoop(0, 50'000, 1'500'000, 0);
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
  estimates.NoteOnLoop(0, 500, 4'000'000, 0);
  EXPECT_TRUE(estimates.FitsLoop(0, 500, 100'000));
  estimates.NoteOnLoop(0, 500, 4'000'000, 0);
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
  for (int i = 0; i < 200; ++i) busy.Learn(0, 10'000, 40'000, false);
  busy.Merge(shared);
  idle.Merge(shared);
  EXPECT_NEAR(static_cast<double>(idle.Of(0, 10'000)), 40'000, 500);  // nothing of its own to say
  EXPECT_EQ(idle.Of(1, 10'000), 10'000);                              // nobody has timed it
  for (int i = 0; i < 200; ++i) other.Learn(0, 10'000, 20'000, false);
  other.Merge(shared);
  busy.Merge(shared);
  EXPECT_NEAR(static_cast<double>(other.Of(0, 10'000)), 30'000, 500);
  EXPECT_EQ(busy.Of(0, 10'000), other.Of(0, 10'000));
  EXPECT_NEAR(static_cast<double>(busy.LeastOf(0, 10'000)), 28'284, 10) << "in proportion, the mean of a half and twice is 1";
  EXPECT_EQ(busy.LeastOf(0, 1'000'000), 40'000) << "the longest that anybody has seen";
  EXPECT_EQ(other.LeastOf(1, 10'000), 0);
}

}  // namespace
}  // namespace wf::sched
