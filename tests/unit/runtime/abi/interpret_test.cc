#include "runtime/abi/interpret.h"

#include <gtest/gtest.h>

#include "runtime/abi/verify.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"

namespace wf::abi {
namespace {

using test::Kind;
using test::PlanBuilder;
using test::RunOptions;

constexpr wf_code kBroken = 100001;

RunOptions Failing() {
  RunOptions options;
  options.body.fail_modulus = 1;  // always
  return options;
}

class InterpretTest : public ::testing::Test {
 protected:
  Outcome Run(bool with_strands = true) {
    const wf_plan& plan = builder_.Finish(with_strands);
    EXPECT_EQ(Verify(plan).message(), "");
    test::Oracle oracle(plan);
    values_.clear();
    return oracle.Run({3}, 0, decisions_, 1, &values_);
  }
  int Root() {
    const int root = builder_.Region();
    in_ = builder_.Slot(root, Kind::kInt);
    out_ = builder_.Slot(root, Kind::kInt);
    builder_.Workflow(root, {in_}, {out_});
    return root;
  }

  PlanBuilder builder_;
  test::Recorder::Decisions decisions_;
  std::vector<int64_t> values_;
  int in_ = 0, out_ = 0;
};

TEST_F(InterpretTest, AFailedNodeFailsTheReturnThatReadsIt) {
  const int root = Root();
  const int bad = builder_.Slot(root, Kind::kInt), after = builder_.Slot(root, Kind::kInt);
  builder_.Run(root, {in_}, bad, Failing());
  builder_.Run(root, {bad}, after);
  builder_.Return(root, {after});
  EXPECT_EQ(Run().failure.code, kBroken);
}

TEST_F(InterpretTest, AFailedNodeThatNobodyReadsDoesNotMatter) {
  const int root = Root();
  const int bad = builder_.Slot(root, Kind::kInt), good = builder_.Slot(root, Kind::kInt);
  builder_.Run(root, {in_}, bad, Failing());
  builder_.Run(root, {in_}, good);
  builder_.Return(root, {good});
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.failure.code, 0);
  EXPECT_FALSE(outcome.MayReport(kBroken));
}

TEST_F(InterpretTest, AFallbackCatchesAndReadsTheCode) {
  const int root = Root();
  const int target = builder_.Region(root), fallback = builder_.Region(root);
  builder_.SetFallback(target, fallback);
  const int inner = builder_.Slot(target, Kind::kInt), caught = builder_.Slot(fallback, Kind::kInt),
            value = builder_.Slot(root, Kind::kInt);
  builder_.Run(target, {in_}, inner, Failing());
  builder_.SetResult(target, inner);
  builder_.Run(fallback, {builder_.FirstSlot(fallback)}, caught);
  builder_.SetResult(fallback, caught);
  builder_.Enter(root, target, {in_}, value);
  builder_.Return(root, {value});
  EXPECT_EQ(Run().failure.code, 0);
  ASSERT_EQ(values_.size(), 1U);
}

TEST_F(InterpretTest, AControlPointFailsTheRegionAtOnce) {
  const int root = Root();
  RunOptions require = Failing();
  require.control = true;
  const int guard = builder_.Run(root, {in_}, -1, require);
  const int value = builder_.Slot(root, Kind::kInt);
  builder_.Run(root, {in_}, value, {.after = {guard}});
  builder_.Return(root, {value}, {guard});
  EXPECT_EQ(Run().failure.code, kBroken);
}

// What it still waits for never comes, but timing may have it fail before the control point above.
TEST_F(InterpretTest, AControlPointThatIsBoundToFailMayBeTheFirst) {
  const int root = Root();
  constexpr wf_code kGuard = 100002;
  const int bad = builder_.Slot(root, Kind::kInt), late = builder_.Slot(root, Kind::kInt);
  builder_.Run(root, {in_}, bad, Failing());
  RunOptions require = Failing();
  require.control = true;
  require.body.fail_code = kGuard;
  const int guard = builder_.Run(root, {in_}, -1, require);
  builder_.Run(root, {in_}, late, {.after = {guard}});
  const int reader = builder_.Run(root, {bad, late}, -1, {.control = true});
  builder_.Return(root, {in_}, {guard, reader});
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.failure.code, kGuard);
  EXPECT_TRUE(outcome.MayReport(kBroken));
}

TEST_F(InterpretTest, WhatWaitsForAFailedControlPointIsNotBoundToFail) {
  const int root = Root();
  constexpr wf_code kGuard = 100002;
  const int bad = builder_.Slot(root, Kind::kInt);
  builder_.Run(root, {in_}, bad, Failing());
  RunOptions require = Failing();
  require.control = true;
  require.body.fail_code = kGuard;
  const int guard = builder_.Run(root, {in_}, -1, require);
  builder_.Return(root, {bad}, {guard});
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.failure.code, kGuard);
  EXPECT_FALSE(outcome.MayReport(kBroken));
}

TEST_F(InterpretTest, AReturnThatWaitsForAFailedControlPointIsNotBoundToFail) {
  const int root = Root();
  constexpr wf_code kGuard = 100002;
  const int out = builder_.Slot(root, Kind::kInt), bad = builder_.Slot(root, Kind::kInt), late = builder_.Slot(root, Kind::kInt);
  builder_.Workflow(root, {in_}, {out_, out});
  builder_.Run(root, {in_}, bad, Failing());
  RunOptions require = Failing();
  require.control = true;
  require.body.fail_code = kGuard;
  const int guard = builder_.Run(root, {in_}, -1, require);
  builder_.Run(root, {in_}, late, {.after = {guard}});
  builder_.Return(root, {bad, late}, {guard});
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.failure.code, kGuard);
  EXPECT_FALSE(outcome.MayReport(kBroken));
}

TEST_F(InterpretTest, AnyFailureThatReachesTheReturnMayBeKnownFirst) {
  const int root = Root();
  constexpr wf_code kFirst = 100002, kUnread = 100003;
  const int out = builder_.Slot(root, Kind::kInt), first = builder_.Slot(root, Kind::kInt), bad = builder_.Slot(root, Kind::kInt),
            unread = builder_.Slot(root, Kind::kInt), both = builder_.Slot(root, Kind::kInt);
  builder_.Workflow(root, {in_}, {out_, out});
  RunOptions failing = Failing();
  failing.body.fail_code = kFirst;
  builder_.Run(root, {in_}, first, failing);
  failing.body.fail_code = kUnread;
  builder_.Run(root, {in_}, unread, failing);
  builder_.Run(root, {in_}, bad, Failing());
  builder_.Run(root, {first, bad}, both);
  builder_.Return(root, {in_, both});
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.failure.code, kFirst);
  EXPECT_TRUE(outcome.MayReport(kBroken));
  EXPECT_FALSE(outcome.MayReport(kUnread));
}

TEST_F(InterpretTest, WhatAFallbackIsToldHasOneValue) {
  const int root = Root();
  constexpr wf_code kFirst = 100002;
  const int first = builder_.Slot(root, Kind::kInt), bad = builder_.Slot(root, Kind::kInt), both = builder_.Slot(root, Kind::kInt),
            value = builder_.Slot(root, Kind::kInt);
  const int target = builder_.Region(root), fallback = builder_.Region(root);
  builder_.SetFallback(target, fallback);
  RunOptions failing = Failing();
  failing.body.fail_code = kFirst;
  builder_.Run(root, {in_}, first, failing);
  builder_.Run(root, {in_}, bad, Failing());
  builder_.Run(root, {first, bad}, both);
  const int inner = builder_.Slot(target, Kind::kInt), again = builder_.Slot(fallback, Kind::kInt);
  builder_.Run(target, {both}, inner);
  builder_.SetResult(target, inner);
  builder_.Run(fallback, {both}, again);  // reads the failed one: fails with what it has
  builder_.SetResult(fallback, again);
  builder_.Enter(root, target, {both}, value);
  builder_.Return(root, {value});
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.failure.code, kFirst);
  EXPECT_FALSE(outcome.MayReport(kBroken));
}

TEST_F(InterpretTest, AReturnInAnArmEndsTheWorkflow) {
  const int root = Root();
  const int arm = builder_.Region(root);
  const int early = builder_.Slot(arm, Kind::kInt), late = builder_.Slot(root, Kind::kInt);
  builder_.Run(arm, {in_}, early, {.body = {.salt = 5}});
  builder_.Return(arm, {early});
  const int branch = builder_.Select(root, {arm}, {in_}, -1, {.body = {.arms = 1}, .control = true});
  builder_.Run(root, {in_}, late, Failing());
  builder_.Return(root, {late}, {branch});
  EXPECT_EQ(Run().failure.code, 0);
  EXPECT_EQ(values_.size(), 1U);
}

TEST_F(InterpretTest, AFanOutKeepsTheOrderOfItsElements) {
  const int root = Root();
  const int body = builder_.Region(root);
  const int element = builder_.Slot(body, Kind::kInt), list = builder_.Slot(root, Kind::kList), value = builder_.Slot(root, Kind::kInt);
  builder_.Run(body, {in_}, element);
  builder_.SetResult(body, element);
  builder_.Each(root, {body, 2}, {in_}, list, {.body = {.arms = 9}});
  builder_.Run(root, {list}, value);
  builder_.Return(root, {value});
  EXPECT_EQ(Run().failure.code, 0);
}

TEST_F(InterpretTest, ToldThatANodeTimedOutItFailsWithThat) {
  const int root = Root();
  const int target = builder_.Region(root);
  const int inner = builder_.Slot(target, Kind::kInt), value = builder_.Slot(root, Kind::kInt);
  builder_.Run(target, {in_}, inner);
  builder_.SetResult(target, inner);
  builder_.Enter(root, target, {in_}, value);  // the first task of the plan
  builder_.Return(root, {value});
  decisions_.timeouts[{0, 0, 0}] = 6000;
  EXPECT_EQ(Run().failure.code, 6000);
}

TEST_F(InterpretTest, AModelIsGivenAScalarAsATensorWithoutAxesAndAnswersWithOne) {
  const int root = Root();
  builder_.Model(root, builder_.AddModel(true), in_, out_);
  builder_.Return(root, {out_});
  const wf_plan& plan = builder_.Finish(true);
  const wf_workflow& workflow = plan.workflows[0];
  std::vector<int64_t> frame(plan.regions[workflow.root].frame_bytes / sizeof(int64_t) + 1);
  const auto at = [&](const wf_port& port) { return frame.begin() + plan.slots[port.slot].offset / sizeof(int64_t); };
  *at(workflow.in[0]) = 21;
  int64_t doubled = 0;
  Hooks hooks;
  hooks.model = [&](uint64_t, uint16_t, const wf_tensor* const* in, wf_tensor* const* out) {
    EXPECT_EQ(in[0]->rank, 0);
    EXPECT_EQ(in[0]->dtype, WF_I64);
    doubled = 2 * *static_cast<const int64_t*>(in[0]->data);
    out[0]->data = &doubled;
    return PlanFailure{};
  };
  EXPECT_EQ(Interpret(plan, workflow, frame.data(), 0, hooks).failure.code, 0);
  EXPECT_EQ(*at(workflow.out[0]), 42);
}

}  // namespace
}  // namespace wf::abi
