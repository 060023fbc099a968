// A statement `if`: its arms are entered before what they read has settled, and wait for it themselves.

#include <gtest/gtest.h>

#include <memory>

#include "runtime/abi/verify.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"

namespace wf::sched {
namespace {

using test::Kind;
using test::PlanBuilder;
using test::Rig;
using test::RunOptions;

constexpr wf_code kBroken = 100001;

RunOptions Slow() {
  RunOptions options;
  options.compute = true;
  options.cost_ns = 500'000;
  return options;
}
RunOptions Failing() {
  RunOptions options;
  options.body.fail_modulus = 1;
  options.body.fail_code = kBroken;
  return options;
}

// slow = ..; if pick(in) { arm }; return other. The arm is taken when arms_of_pick is 1.
class ArmsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = builder_.Region();
    in_ = Int(root_);
    out_ = Int(root_);
    builder_.Workflow(root_, {in_}, {out_});
    slow_ = Int(root_);
    builder_.Run(root_, {in_}, slow_, Slow());
    arm_ = builder_.Region(root_);
  }
  int Int(int region) { return builder_.Slot(region, Kind::kInt); }
  int If(bool is_taken) {
    RunOptions options;
    options.control = options.lets_in_early = true;
    options.body.arms = is_taken ? 1 : INT64_C(1) << 62;  // of so many, the mix of 2 does not pick the first
    return builder_.Select(root_, {arm_}, {in_}, -1, options);
  }
  Rig& MakeRig() {
    const wf_plan& plan = builder_.Finish(true);
    EXPECT_EQ(abi::Verify(plan).message(), "");
    rig_ = std::make_unique<Rig>(plan);
    return *rig_;
  }
  // The request is answered at once, and with that.
  void ExpectBroken() {
    Rig& rig = MakeRig();
    rig.Start({2});
    ASSERT_EQ(rig.answers.size(), 1U);
    EXPECT_EQ(rig.answers[0].code, kBroken);
    rig.Settle();
  }

  PlanBuilder builder_;
  std::unique_ptr<Rig> rig_;
  int root_ = 0, in_ = 0, out_ = 0, slow_ = 0, arm_ = 0;
};

TEST_F(ArmsTest, AnArmThatDoesNotReadTheSlowValueReturnsAtOnce) {
  const int value = Int(arm_);
  builder_.Run(arm_, {in_}, value);
  builder_.Return(arm_, {value});
  const int unread = Int(arm_);
  builder_.Run(arm_, {slow_}, unread);
  builder_.Return(root_, {slow_}, {If(true)});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  rig.Settle();
  EXPECT_EQ(rig.drained, 1);
}

TEST_F(ArmsTest, AnArmThatWasEnteredEarlyIsWokenByWhatItReads) {
  const int inner = builder_.Region(arm_), value = Int(inner);
  builder_.Run(inner, {slow_, in_}, value);
  builder_.Return(inner, {value});
  RunOptions always;
  always.control = always.lets_in_early = true;
  always.body.arms = 1;
  builder_.Select(arm_, {inner}, {in_}, -1, always);
  builder_.Return(root_, {in_}, {If(true)});
  Rig& rig = MakeRig();
  rig.Start({2});
  EXPECT_TRUE(rig.answers.empty());
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
}

TEST_F(ArmsTest, WhatOnlyAnUntakenArmReadsMayFail) {
  const int bad = Int(root_);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Return(arm_, {bad});
  builder_.Return(root_, {in_}, {If(false)});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  rig.Settle();
}

TEST_F(ArmsTest, AFailureThatAnArmReadsIsTheRequests) {
  const int bad = Int(root_), both = Int(arm_);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(arm_, {bad, slow_}, both);
  builder_.Return(arm_, {both});
  builder_.Return(root_, {in_}, {If(true)});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);  // nobody waited for the slow one
  EXPECT_EQ(rig.answers[0].code, kBroken);
  rig.Settle();
}

TEST_F(ArmsTest, AReturnInAnArmWaitsForNothingBeforeItsFailure) {
  const int bad = Int(root_), both = Int(arm_);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(arm_, {slow_, bad}, both);
  builder_.Return(arm_, {both});
  builder_.Return(root_, {in_}, {If(true)});
  ExpectBroken();
}

TEST_F(ArmsTest, AFailureIsNotToldOfAControlPointThatWaitsForAnother) {
  constexpr wf_code kLast = 100002;
  const int bad = Int(root_);
  builder_.Run(root_, {in_}, bad, Failing());
  RunOptions slow = Slow();
  slow.control = true;
  const int first = builder_.Run(root_, {in_}, -1, slow);
  const int waiting = builder_.Run(root_, {bad}, -1, {.control = true, .after = {first}});
  RunOptions failing = Failing();
  failing.control = true;
  failing.body.fail_code = kLast;
  const int last = builder_.Run(root_, {in_}, -1, failing);
  builder_.Run(arm_, {in_}, Int(arm_));
  builder_.Return(root_, {in_}, {If(false), first, waiting, last});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kLast);
  rig.Settle();
}

// if .. { fail kBroken } fail kLast
TEST_F(ArmsTest, WhatAnArmDecidesAtOnceIsToldBeforeWhatFollowsTheArm) {
  constexpr wf_code kLast = 100002;
  RunOptions failing = Failing();
  failing.control = true;
  builder_.Run(arm_, {in_}, -1, failing);
  const int first = If(true);
  failing.body.fail_code = kLast;
  builder_.Return(root_, {in_}, {first, builder_.Run(root_, {in_}, -1, failing)});
  ExpectBroken();
}

// if .. { node a = ..; require a.. } fail kLast, where `a` fails
TEST_F(ArmsTest, AnArmIsWaitedForAsLongAsTheLoopRunsWhatItReads) {
  constexpr wf_code kLast = 100002;
  const int a = Int(arm_);
  builder_.Run(arm_, {in_}, a, Failing());
  builder_.Run(arm_, {a}, -1, {.control = true});
  const int first = If(true);
  RunOptions failing = Failing();
  failing.control = true;
  failing.body.fail_code = kLast;
  builder_.Return(root_, {in_}, {first, builder_.Run(root_, {in_}, -1, failing)});
  ExpectBroken();
}

TEST_F(ArmsTest, NothingLongIsStartedOnceAFailureBehindTheArmIsKnown) {
  constexpr wf_code kLast = 100002;
  const int a = Int(arm_);
  RunOptions slow = Slow();
  slow.body = Failing().body;
  builder_.Run(arm_, {in_}, a, slow);
  builder_.Run(arm_, {a}, -1, {.control = true});
  const int first = If(true);
  RunOptions failing = Failing();
  failing.control = true;
  failing.body.fail_code = kLast;
  builder_.Return(root_, {in_}, {first, builder_.Run(root_, {in_}, -1, failing)});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kLast);
  rig.Settle();
  EXPECT_EQ(builder_.bodies_run(), 1U) << "of what failed";
}

TEST_F(ArmsTest, AnArmMayNotBeEnteredThroughAnythingButASelect) {
  const int value = Int(arm_), out = Int(root_);
  builder_.Run(arm_, {slow_}, value);
  builder_.SetResult(arm_, value);
  builder_.Enter(root_, arm_, {slow_}, out);
  builder_.Return(root_, {out});
  const wf_plan& plan = builder_.Finish(false);
  ASSERT_EQ(abi::Verify(plan).message(), "");
  std::vector<wf_task> tasks(plan.tasks, plan.tasks + plan.n_tasks);
  wf_plan copy = plan;
  copy.tasks = tasks.data();
  wf_task& writer = tasks[0];
  const uint16_t inside = static_cast<uint16_t>(plan.regions[1].first_task);
  writer.next = &inside;
  writer.n_next = 1;
  EXPECT_EQ(abi::Verify(copy).message(), "plan: task 0: its `next` reaches into a region that no SELECT enters, or it writes no slot");
}

}  // namespace
}  // namespace wf::sched
