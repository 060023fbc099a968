// Which tasks a request waits for whatever becomes of it.

#include "runtime/sched/certain.h"

#include "tests/unit/runtime/sched/engine_fixture.h"

namespace wf::sched {
namespace {

class CertainTest : public EngineTest {
 protected:
  void Expect(std::vector<int> tasks) {
    const wf_plan& plan = builder_.Finish(false);
    ASSERT_EQ(abi::Verify(plan).message(), "");
    const bus::PlanIndex index(plan);
    std::vector<uint16_t> ids;
    for (const int task : tasks) ids.push_back(builder_.TaskOf(task));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(CertainTasks(index, plan.workflows[0]), ids);
  }
};

TEST_F(CertainTest, WhatTheResultIsMadeOfAndNothingElse) {
  builder_.AddModel(true);
  const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor), value = Int(root_), aside = Int(root_);
  const int first = builder_.Run(root_, {in_}, x);
  const int model = builder_.Model(root_, 0, x, y);
  const int last = builder_.Run(root_, {y}, value);
  builder_.Run(root_, {in_}, aside);
  builder_.Return(root_, {value});
  Expect({first, model, last});
}

TEST_F(CertainTest, WhatStandsInACallButNotBehindATimeoutOrWhereAFallbackMayDo) {
  const int called = builder_.Region(root_), caught = builder_.Region(root_), instead = builder_.Region(root_);
  const int inner = Int(called), value = Int(root_);
  const int task = builder_.Run(called, {in_}, inner);
  builder_.SetResult(called, inner);
  builder_.Enter(root_, called, {in_}, value);
  const int tried = Int(caught), other = Int(root_), sum = Int(root_);
  builder_.Run(caught, {in_}, tried);
  builder_.SetResult(caught, tried);
  builder_.SetFallback(caught, instead);
  const int fallback = Int(instead);
  builder_.Run(instead, {builder_.FirstSlot(instead)}, fallback);
  builder_.SetResult(instead, fallback);
  builder_.Enter(root_, caught, {in_}, other);
  wf_policy policy{};
  policy.timeout_ns = kMs;
  const Node timed = Enclosed({}, builder_.Policy(policy));
  const int last = builder_.Run(root_, {value, other, timed.value}, sum);
  builder_.Return(root_, {sum});
  Expect({task, last});
}

TEST_F(CertainTest, WhatDecidesWhichArmIsTakenButNoArm) {
  const int value = Int(root_), chosen = Int(root_);
  const int decides = builder_.Run(root_, {in_}, value);
  const int arm = builder_.Region(root_), other = builder_.Region(root_);
  for (const int region : {arm, other}) {
    const int slot = Int(region);
    builder_.Run(region, {in_}, slot);
    builder_.SetResult(region, slot);
  }
  RunOptions pick;
  pick.body.arms = 2;
  builder_.Select(root_, {arm, 2}, {value}, chosen, pick);
  builder_.Return(root_, {chosen});
  Expect({decides});
}

TEST_F(CertainTest, NothingWhereSeveralReturnsMayEndTheWorkflow) {
  const int value = Int(root_);
  const int arm = builder_.Region(root_);
  builder_.Return(arm, {in_});
  RunOptions pick;
  pick.body.arms = 2;
  builder_.Select(root_, {arm}, {in_}, -1, pick);
  builder_.Run(root_, {in_}, value);
  builder_.Return(root_, {value});
  Expect({});
}

TEST_F(CertainTest, WhetherEveryWorkflowNeedsAModel) {
  BuildModel();
  EXPECT_TRUE(EveryWorkflowNeedsAModel(bus::PlanIndex(builder_.Finish(false))));
}

TEST_F(CertainTest, AModelBesideTheResultIsNotNeeded) {
  BuildModel(/*is_read=*/false);
  EXPECT_FALSE(EveryWorkflowNeedsAModel(bus::PlanIndex(builder_.Finish(false))));
}

}  // namespace
}  // namespace wf::sched
