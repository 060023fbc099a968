#include "runtime/sched/engine.h"

#include <gtest/gtest.h>

#include "runtime/abi/verify.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"

namespace wf::sched {
namespace {

using test::Kind;
using test::PlanBuilder;
using test::Rig;
using test::RunOptions;

constexpr int64_t kMs = 1'000'000;
constexpr wf_code kBroken = 100001;

RunOptions Failing(wf_code code = kBroken) {
  RunOptions options;
  options.body.fail_modulus = 1;  // always
  options.body.fail_code = code;
  return options;
}

RunOptions Pooled() {
  RunOptions options;
  options.compute = true;
  options.cost_ns = 500'000;
  return options;
}

class EngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = builder_.Region();
    in_ = builder_.Slot(root_, Kind::kInt);
    out_ = builder_.Slot(root_, Kind::kInt);
    builder_.Workflow(root_, {in_}, {out_});
  }
  void TearDown() override {
    if (rig_ == nullptr) return;
    EXPECT_EQ(rig_->engine->live_buses(), 0U);
    for (const batch::Batcher* batcher : rig_->batchers) EXPECT_EQ(batcher->queued_rows(), 0);
  }
  Rig& MakeRig(const EngineOptions& options = {}, const batch::BatcherOptions& batching = {}, bool with_strands = true) {
    const wf_plan& plan = builder_.Finish(with_strands);
    EXPECT_EQ(abi::Verify(plan).message(), "");
    rig_ = std::make_unique<Rig>(plan, options, batching);
    return *rig_;
  }
  int Int(int region) { return builder_.Slot(region, Kind::kInt); }

  // root: value = body(in), with its own ENTER
  struct Node {
    int target, value;
  };
  Node Enclosed(const RunOptions& inner, int policy) {
    const int target = builder_.Region(root_);
    const int slot = Int(target), value = Int(root_);
    builder_.Run(target, {in_}, slot, inner);
    builder_.SetResult(target, slot);
    builder_.Enter(root_, target, {in_}, value, policy);
    return {target, value};
  }

  PlanBuilder builder_;
  std::unique_ptr<Rig> rig_;
  int root_ = 0, in_ = 0, out_ = 0;
};

TEST_F(EngineTest, AnInlineRequestIsAnsweredInsideStartWithoutTimerOrMemory) {
  const int value = Int(root_);
  builder_.Run(root_, {in_}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1});
  const int64_t takes = rig.memory.takes;
  for (int i = 0; i < 2000; ++i) {
    rig.Start({i});
    ASSERT_EQ(rig.engine->NextTimerAt(), INT64_MAX);
  }
  EXPECT_EQ(rig.answers.size(), 2001U);
  EXPECT_EQ(rig.drained, 2001);
  EXPECT_EQ(rig.memory.takes, takes);
  EXPECT_EQ(rig.waker.count, 0);
}

TEST_F(EngineTest, AFailureNamesItsCodeAndNode) {
  RunOptions require = Failing(5000);
  require.control = true;
  const int guard = builder_.Run(root_, {in_}, -1, require);
  builder_.Return(root_, {in_}, {guard});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 5000);
  EXPECT_EQ(rig.answers[0].message, "the body failed");
  EXPECT_EQ(rig.answers[0].path, "W/n0");
}

TEST_F(EngineTest, ARejectedRequestIsAnsweredWithTheDecodersFailure) {
  builder_.Return(root_, {in_});
  Rig& rig = MakeRig();
  bus::Bus* const bus = rig.engine->Create({.workflow = rig.plan.workflows, .client = &rig, .received_at = rig.clock.Now()});
  const std::string text = "`x` is not a number";
  wf_fail(bus->ctx(), 5000, 0, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  rig.engine->Reject(*bus, WF_FAILED);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 5000);
  EXPECT_EQ(rig.answers[0].message, text);
}

TEST_F(EngineTest, TheReplyLeavesWithoutWhatTheReturnDoesNotNeed) {
  const int slow = Int(root_), fast = Int(root_);
  builder_.Run(root_, {in_}, slow, Pooled());
  builder_.Run(root_, {in_}, fast);
  builder_.Return(root_, {fast});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.drained, 0);  // the job still refers to it
  rig.Settle();
  EXPECT_EQ(rig.drained, 1);
  EXPECT_EQ(rig.engine->stats().dropped_results.value(), 1U);
}

TEST_F(EngineTest, TheRequestFailsAsSoonAsThatIsCertain) {
  const int bad = Int(root_), slow = Int(root_), both = Int(root_);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(root_, {in_}, slow, Pooled());
  builder_.Run(root_, {bad, slow}, both);
  builder_.Return(root_, {both});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);  // nobody waited for the slow one
  EXPECT_EQ(rig.answers[0].code, kBroken);
  rig.Settle();
}

TEST_F(EngineTest, AReaderTakesItsTextuallyFirstFailedInputOnceEarlierOnesHaveSettled) {
  const int slow = Int(root_), bad = Int(root_), both = Int(root_);
  RunOptions slow_failing = Failing(100002);
  slow_failing.compute = true;
  slow_failing.cost_ns = 500'000;
  builder_.Run(root_, {in_}, slow, slow_failing);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(root_, {slow, bad}, both);
  builder_.Return(root_, {both});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_TRUE(rig.answers.empty());
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 100002);
}

TEST_F(EngineTest, AFailureThatDecidesNothingIsNotTheRequests) {
  const int unread = Int(root_), bad = Int(root_);
  builder_.Run(root_, {in_}, unread, Failing(100001));
  builder_.Run(root_, {in_}, bad, Failing(100002));
  builder_.Return(root_, {bad});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 100002);
}

TEST_F(EngineTest, OfControlPointsThatFailTogetherTheFirstInTheTextIsReported) {
  const int bad = Int(root_), worse = Int(root_);
  builder_.Run(root_, {in_}, worse, Failing(100002));
  builder_.Run(root_, {in_}, bad, Failing(100001));
  RunOptions require;
  require.control = true;
  const int first = builder_.Run(root_, {bad}, -1, require), second = builder_.Run(root_, {worse}, -1, require);
  builder_.Return(root_, {in_}, {first, second});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 100001);
}

TEST_F(EngineTest, AFailureDoesNotOvertakeAnUndecidedControlPoint) {
  RunOptions require = Failing(5000);
  require.control = true;
  require.compute = true;
  require.cost_ns = 500'000;
  const int guard = builder_.Run(root_, {in_}, -1, require);
  const int bad = Int(root_);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Return(root_, {bad}, {guard});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_TRUE(rig.answers.empty());
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 5000);  // and it stands first in the text
}

TEST_F(EngineTest, AStrandCrossesToThePoolOnce) {
  int previous = in_;
  for (int i = 0; i < 4; ++i) {
    const int slot = Int(root_);
    builder_.Run(root_, {previous}, slot, Pooled());
    previous = slot;
  }
  builder_.Return(root_, {previous});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_EQ(rig.queue.jobs.size(), 1U);
  rig.Settle();
  EXPECT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.engine->stats().pooled_strands.value(), 1U);
}

TEST_F(EngineTest, MuchInlineWorkInOneTurnGoesToThePool) {
  int previous = in_;
  for (int i = 0; i < 40; ++i) {
    const int slot = Int(root_);
    RunOptions options;
    options.cost_ns = 1'900;  // below what is timed, so the estimate counts
    builder_.Run(root_, {previous}, slot, options);
    previous = slot;
  }
  builder_.Return(root_, {previous});
  EngineOptions options;
  options.inline_turn_ns = 5'000;
  Rig& rig = MakeRig(options);
  for (int i = 0; i < 1100; ++i) {  // beyond the requests that are all timed
    rig.Start({i});
    rig.Turn();
    rig.Settle();
  }
  const uint64_t pooled = rig.engine->stats().pooled_strands.value();
  EXPECT_GT(pooled, 0U);
}

TEST_F(EngineTest, TheRequestDeadlineAnswersWhileWorkIsUnderWay) {
  const int value = Int(root_);
  builder_.Run(root_, {in_}, value, Pooled());
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1}, 5 * kMs);
  EXPECT_LE(rig.engine->NextTimerAt(), rig.clock.Now() + 6 * kMs);
  rig.AdvanceNs(4 * kMs);
  EXPECT_TRUE(rig.answers.empty());
  rig.AdvanceNs(2 * kMs);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, bus::kTimeout);
  rig.Settle();
  EXPECT_EQ(rig.drained, 1);
}

TEST_F(EngineTest, ANodesTimeoutIsCaughtByItsFallback) {
  wf_policy policy{};
  policy.timeout_ns = 3 * kMs;
  const int target = builder_.Region(root_), fallback = builder_.Region(root_);
  builder_.SetFallback(target, fallback);
  const int slow = Int(target), other = Int(fallback), value = Int(root_);
  builder_.Run(target, {in_}, slow, Pooled());
  builder_.SetResult(target, slow);
  builder_.Run(fallback, {builder_.FirstSlot(fallback)}, other);
  builder_.SetResult(fallback, other);
  builder_.Enter(root_, target, {in_}, value, builder_.Policy(policy));
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1});
  rig.AdvanceNs(4 * kMs);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  rig.Settle();
}

TEST_F(EngineTest, AFallbackIsOutsideTheTimeoutOfItsNode) {
  wf_policy policy{};
  policy.timeout_ns = 3 * kMs;
  const int target = builder_.Region(root_), fallback = builder_.Region(root_);
  builder_.SetFallback(target, fallback);
  const int bad = Int(target), slow = Int(fallback), value = Int(root_);
  builder_.Run(target, {in_}, bad, Failing());
  builder_.SetResult(target, bad);
  builder_.Run(fallback, {builder_.FirstSlot(fallback)}, slow, Pooled());
  builder_.SetResult(fallback, slow);
  builder_.Enter(root_, target, {in_}, value, builder_.Policy(policy));
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.queue.jobs.size(), 1U);
  rig.AdvanceNs(10 * kMs);
  EXPECT_EQ(rig.queue.jobs.size(), 1U);  // not begun again
  EXPECT_EQ(rig.engine->stats().timed_out.value(), 0U);
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
}

TEST_F(EngineTest, RetriesFailuresOfRemoteCallsAsOftenAsAllowed) {
  wf_policy policy{};
  policy.retry = 2;
  const Node node = Enclosed(Failing(8001), builder_.Policy(policy));
  builder_.Return(root_, {node.value});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_EQ(rig.engine->stats().inline_tasks.value(), 1U);
  rig.AdvanceNs(3 * kMs);  // 1 ms, at most 50 % more
  EXPECT_EQ(rig.engine->stats().inline_tasks.value(), 2U);
  rig.AdvanceNs(5 * kMs);
  EXPECT_EQ(rig.engine->stats().inline_tasks.value(), 3U);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 8001);
}

TEST_F(EngineTest, DoesNotRetryWhatTheProgramDeclared) {
  wf_policy policy{};
  policy.retry = 2;
  const Node node = Enclosed(Failing(kBroken), builder_.Policy(policy));
  builder_.Return(root_, {node.value});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.engine->stats().inline_tasks.value(), 1U);
}

TEST_F(EngineTest, ACancelledRequestWithdrawsItsRowAndGivesItsCreditBack) {
  builder_.AddModel(true);
  const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor), value = Int(root_);
  builder_.Run(root_, {in_}, x);
  builder_.Model(root_, 0, x, y);
  builder_.Run(root_, {y}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  bus::Bus* const bus = rig.Start({1});
  rig.RunJobs();
  EXPECT_EQ(rig.batchers[0]->queued_rows(), 1);
  rig.engine->Cancel(*bus);
  EXPECT_EQ(rig.batchers[0]->queued_rows(), 0);
  EXPECT_FALSE(rig.RunBatch());
  EXPECT_EQ(rig.drained, 1);
  EXPECT_TRUE(rig.answers.empty());
}

class ModelTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    builder_.AddModel(true);
    x_ = builder_.Slot(root_, Kind::kTensor);
    y_ = builder_.Slot(root_, Kind::kTensor);
    const int value = Int(root_);
    builder_.Run(root_, {in_}, x_);
    builder_.Model(root_, 0, x_, y_);
    builder_.Run(root_, {y_}, value);
    builder_.Return(root_, {value});
  }
  int x_ = 0, y_ = 0;
};

TEST_F(ModelTest, RequestsShareABatch) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  for (int i = 0; i < 4; ++i) rig.Start({5});  // equal inputs, so equal shapes
  rig.RunJobs();
  EXPECT_EQ(rig.waker.count, 0);  // the rows went straight from the pool to the batcher
  EXPECT_TRUE(rig.mailbox.empty());
  ASSERT_TRUE(rig.RunBatch());
  EXPECT_FALSE(rig.RunBatch());
  EXPECT_EQ(rig.models[0]->run_rows, std::vector<int64_t>{4});
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 4U);
  for (const Rig::Answer& answer : rig.answers) EXPECT_EQ(answer.values, rig.answers[0].values);
}

TEST_F(ModelTest, AFullQueueIsAnAnswerBeforeAnyWorkIsSpent) {
  batch::BatcherOptions batching;
  batching.policy.max_queued_rows = 2;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching);
  for (int i = 0; i < 3; ++i) rig.Start({i});
  EXPECT_EQ(rig.queue.jobs.size(), 2U);  // the third strand never started
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, bus::kRefused);
  rig.Settle();
  EXPECT_EQ(rig.answers.size(), 3U);
}

TEST_F(ModelTest, RunsOnTheLoopWhenABatchWouldNotPay) {
  Rig& rig = MakeRig();
  rig.batchers[0]->cost().Learn(1, 10'000);
  rig.Start({1});
  EXPECT_EQ(rig.engine->stats().model_inline.value(), 0U);  // nothing is known of its batches yet: the batcher decides after a run
  rig.Settle();
  rig.Start({1});
  EXPECT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.engine->stats().model_inline.value(), 1U);
  EXPECT_EQ(rig.answers[0].values, rig.answers[1].values);
}

TEST_F(ModelTest, AFailedRunFailsTheCallWithTheModelsWords) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.models[0]->fails = [] { return true; };
  rig.Start({1});
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, bus::kInference);
  EXPECT_EQ(rig.answers[0].message, "the fake model failed");
}

TEST_F(ModelTest, ARowThatIsLateInTheQueueIsNotRun) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.Start({1}, 2 * kMs);
  rig.RunJobs();
  rig.clock.AdvanceNs(3 * kMs);  // the executor looks before the loop does
  EXPECT_FALSE(rig.RunBatch());
  EXPECT_TRUE(rig.models[0]->run_rows.empty());
  rig.Turn();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, bus::kTimeout);
}

TEST_F(ModelTest, CountsWaitsAndRunsByNode) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  for (int i = 0; i < 3; ++i) rig.Start({i});
  rig.Settle();
  const EngineStats& stats = rig.engine->stats();
  EXPECT_EQ(stats.model_rows.value(), 3U);
  EXPECT_EQ(stats.queue_wait[1].count.value(), 3U);
  EXPECT_EQ(stats.node_compute[0].count.value(), 3U);
  EXPECT_EQ(stats.stage[0].count.value(), 3U);
  EXPECT_EQ(rig.batchers[0]->stats().rows.load(), 3U);
}

class SharedNodeTest : public EngineTest, public ::testing::WithParamInterface<Schedule> {};

TEST_P(SharedNodeTest, ANodeOfSeveralTasksIsObservedOncePerExecution) {
  builder_.AddModel(true);
  const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor), value = Int(root_);
  const int prepare = builder_.Run(root_, {in_}, x), model = builder_.Model(root_, 0, x, y);
  builder_.SameNode(prepare, model);
  builder_.Run(root_, {y}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig({.schedule = GetParam()});
  for (int i = 0; i < 3; ++i) rig.Start({i});
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 3U);
  EXPECT_EQ(rig.engine->stats().node_compute[builder_.TaskOf(model)].count.value(), 3U);
  EXPECT_EQ(rig.engine->stats().node_compute[builder_.TaskOf(prepare)].count.value(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, SharedNodeTest, ::testing::Values(Schedule::kPool, Schedule::kInline));

class FanOutTest : public EngineTest {
 protected:
  // value = [model(element) for count elements]
  void Build(int64_t count, int window) {
    builder_.AddModel(true);
    const int body = builder_.Region(root_);
    const int x = builder_.Slot(body, Kind::kTensor), y = builder_.Slot(body, Kind::kTensor), element = Int(body);
    builder_.Run(body, {in_}, x);
    builder_.Model(body, 0, x, y);
    builder_.Run(body, {y}, element);
    builder_.SetResult(body, element);
    const int list = builder_.Slot(root_, Kind::kList), value = Int(root_);
    RunOptions pick;
    pick.body.arms = count;
    builder_.Each(root_, body, {in_}, list, pick, window);
    builder_.Run(root_, {list}, value);
    builder_.Return(root_, {value});
  }
};

TEST_F(FanOutTest, NoMoreElementsThanTheWindowAreInFlight) {
  Build(40, 3);
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  for (int i = 0; i < 10; ++i) {
    rig.Start({i});
    while (!rig.queue.jobs.empty() || !rig.mailbox.empty() || rig.executor->NextDecisionAt()) {
      EXPECT_LE(rig.queue.jobs.size(), 3U);
      rig.RunJobs();
      EXPECT_LE(rig.batchers[0]->queued_rows(), 3);
      rig.RunBatch();
      rig.Turn();
    }
  }
  EXPECT_EQ(rig.answers.size(), 10U);
}

TEST_F(FanOutTest, AnElementThatMeetsAFullQueueWaitsForEarlierOnes) {
  Build(40, 16);
  batch::BatcherOptions batching;
  batching.policy.max_queued_rows = 2;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching);
  for (int i = 0; i < 10; ++i) {
    rig.Start({i});
    rig.Settle();
  }
  ASSERT_EQ(rig.answers.size(), 10U);
  for (const Rig::Answer& answer : rig.answers) EXPECT_EQ(answer.code, 0);
}

TEST_F(FanOutTest, ThousandsOfElementsUseTheFramesOfAWindow) {
  const int body = builder_.Region(root_);
  const int element = Int(body), list = builder_.Slot(root_, Kind::kList), value = Int(root_);
  builder_.Run(body, {in_}, element);
  builder_.SetResult(body, element);
  RunOptions pick;
  pick.body.arms = 20'000;
  builder_.Each(root_, body, {in_}, list, pick, 4);
  builder_.Run(root_, {list}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig({.schedule = Schedule::kInline});
  uint64_t elements = 0;
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = rig.engine->stats().inline_tasks.value();
    bus::Bus* const bus = rig.Start({i});
    (void)bus;
    elements = std::max(elements, rig.engine->stats().inline_tasks.value() - before);
  }
  EXPECT_GT(elements, 5'000U);
  EXPECT_LE(rig.memory.held_bytes, 64 << 10);  // all but one first chunk went back
  EXPECT_LT(rig.memory.takes, 10 * 4);         // the results, and little else; a frame per element would be 5 MB
}

TEST_F(FanOutTest, WhatAnEndedElementLeftInLineDoesNotRunInTheNextOne) {
  const int body = builder_.Region(root_);
  const int first = Int(body), result = Int(body), unneeded = Int(body), list = builder_.Slot(root_, Kind::kList), value = Int(root_);
  builder_.Run(body, {in_}, first);
  builder_.Run(body, {first}, result);  // ready together with the next task, and before it
  builder_.Run(body, {first}, unneeded);
  builder_.SetResult(body, result);
  RunOptions pick;
  pick.body.arms = 1'000;
  builder_.Each(root_, body, {in_}, list, pick, 1);
  builder_.Run(root_, {list}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig({.schedule = Schedule::kInline});
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  EXPECT_GT(rig.engine->stats().inline_tasks.value(), 10U);
  EXPECT_EQ(rig.engine->stats().inline_tasks.value() % 2, 1U);  // two per element, one for the list
}

TEST_F(FanOutTest, MoreThan65536ElementsAreRefused) {
  const int body = builder_.Region(root_);
  const int element = Int(body), list = builder_.Slot(root_, Kind::kList), value = Int(root_);
  builder_.Run(body, {in_}, element);
  builder_.SetResult(body, element);
  RunOptions pick;
  pick.body.arms = INT64_C(1) << 50;
  builder_.Each(root_, body, {in_}, list, pick, 4);
  builder_.Run(root_, {list}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, bus::kInputParams);
}

TEST_F(EngineTest, AnOldCatalogueIsReleasedWithItsLastRequest) {
  const int value = Int(root_);
  builder_.Run(root_, {in_}, value, Pooled());
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  struct User : Engine::CatalogueUser {
    void OnReleased(const Catalogue& catalogue) noexcept override { epochs.push_back(catalogue.epoch()); }
    std::vector<uint64_t> epochs;
  } user;
  rig.engine->set_catalogue_user(&user);
  bus::Bus* const old = rig.Start({1});
  Catalogue second(2, rig.plan.n_tasks), third(3, rig.plan.n_tasks);
  rig.engine->SetCatalogue(second);
  EXPECT_TRUE(user.epochs.empty());
  rig.engine->SetCatalogue(third);
  EXPECT_EQ(user.epochs, std::vector<uint64_t>{2});  // nobody ever took it
  EXPECT_EQ(old->catalogue().epoch(), 1U);
  rig.Settle();
  EXPECT_EQ(user.epochs, (std::vector<uint64_t>{2, 1}));
}

TEST_F(EngineTest, CreateAnswersNullWhenMemoryIsRefused) {
  builder_.Return(root_, {in_});
  Rig& rig = MakeRig();
  rig.memory.refuses = [] { return true; };
  EXPECT_EQ(rig.Start({1}), nullptr);
  rig.memory.refuses = nullptr;
  EXPECT_NE(rig.Start({1}), nullptr);
}

}  // namespace
}  // namespace wf::sched
