#include "runtime/sched/engine.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/sched/engine_fixture.h"

namespace wf::sched {
namespace {

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

TEST_F(EngineTest, OfABurstNoMoreMemoryStaysThanOfARequest) {
  const int value = Int(root_);
  builder_.Run(root_, {in_}, value, Pooled());
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1});
  rig.Settle();
  const int64_t of_one = rig.memory.held_bytes;
  for (int i = 0; i < 200; ++i) rig.Start({i});
  rig.Settle();
  EXPECT_EQ(rig.drained, 201);
  EXPECT_EQ(rig.memory.held_bytes, of_one);
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

// A reader whose failure a fallback is told.
TEST_F(EngineTest, AReaderTakesItsTextuallyFirstFailedInputOnceEarlierOnesHaveSettled) {
  constexpr wf_code kSlow = 100002;
  const int slow = Int(root_), bad = Int(root_), both = Int(root_), value = Int(root_);
  RunOptions slow_failing = Pooled();
  slow_failing.body = Failing(kSlow).body;
  builder_.Run(root_, {in_}, slow, slow_failing);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(root_, {slow, bad}, both);
  const int target = builder_.Region(root_), fallback = builder_.Region(root_);
  builder_.SetFallback(target, fallback);
  const int inner = Int(target), caught = Int(fallback);
  builder_.Run(target, {both}, inner);
  builder_.SetResult(target, inner);
  builder_.Run(fallback, {builder_.FirstSlot(fallback)}, caught);
  builder_.SetResult(fallback, caught);
  builder_.Enter(root_, target, {both}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_TRUE(rig.answers.empty());
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
}

TEST_F(EngineTest, AFailureThatReachesTheReturnWaitsForNothingWrittenBeforeIt) {
  const int slow = Int(root_), bad = Int(root_), both = Int(root_);
  builder_.Workflow(root_, {in_}, {out_, out_});
  builder_.Run(root_, {in_}, slow, Pooled());
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(root_, {slow, bad}, both);  // as a result that is computed from two nodes
  builder_.Return(root_, {slow, both});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kBroken);
  EXPECT_EQ(rig.drained, 0);  // the slow one is under way
  rig.Settle();
  EXPECT_EQ(rig.drained, 1);
}

TEST_F(EngineTest, AFailureThatReachesAConditionWaitsForNothingWrittenBeforeIt) {
  const int slow = Int(root_), bad = Int(root_);
  builder_.Run(root_, {in_}, slow, Pooled());
  builder_.Run(root_, {in_}, bad, Failing());
  const int guard = builder_.Run(root_, {slow, bad}, -1, {.control = true});
  builder_.Return(root_, {in_}, {guard});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kBroken);
  rig.Settle();
}

TEST_F(EngineTest, AReturnThatIsBoundToFailWaitsForNoAnnotation) {
  const int slow = Int(root_), bad = Int(root_);
  builder_.Run(root_, {in_}, bad, Failing());
  const int annotation = builder_.Run(root_, {in_}, slow, Pooled());
  builder_.Return(root_, {bad}, {annotation});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kBroken);
  rig.Settle();
}

TEST_F(EngineTest, AFailureIsToldWhenTheControlPointBeforeItHasPassed) {
  RunOptions require = Pooled();
  require.control = true;
  const int guard = builder_.Run(root_, {in_}, -1, require);
  const int bad = Int(root_), slow = Int(root_);
  builder_.Run(root_, {in_}, bad, Failing());
  builder_.Run(root_, {in_}, slow, Pooled());
  builder_.Return(root_, {slow, bad}, {guard});
  builder_.Workflow(root_, {in_}, {out_, out_});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_TRUE(rig.answers.empty());
  ASSERT_EQ(rig.queue.jobs.size(), 2U);
  Job* const slow_job = rig.queue.jobs.back();
  rig.queue.jobs.pop_back();
  rig.RunJobs();
  rig.Turn();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kBroken);
  rig.queue.jobs.push_back(slow_job);
  rig.Settle();
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

// What writes its other input waits for the control point, as it does itself: more than a later input is outstanding.
TEST_F(EngineTest, AReturnBehindAnUndecidedControlPointIsNotBoundToFail) {
  constexpr wf_code kGuard = 100002;
  const int out = Int(root_), bad = Int(root_), late = Int(root_);
  builder_.Workflow(root_, {in_}, {out_, out});
  builder_.Run(root_, {in_}, bad, Failing());
  RunOptions require = Pooled();
  require.control = true;
  require.body = Failing(kGuard).body;
  const int guard = builder_.Run(root_, {in_}, -1, require);
  builder_.Run(root_, {in_}, late, {.after = {guard}});
  builder_.Return(root_, {bad, late}, {guard});
  Rig& rig = MakeRig();
  rig.Start({1});
  EXPECT_TRUE(rig.answers.empty());
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, kGuard);
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
  EXPECT_EQ(rig.queue.pushed, 1U);
}

TEST_F(EngineTest, WhatHasNotBeenMeasuredIsNothingThatOthersAreSureToWaitFor) {
  builder_.Run(root_, {in_}, out_, Pooled());
  builder_.Return(root_, {out_});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.queue.jobs.size(), 1U);
  EXPECT_EQ(rig.queue.jobs.front()->estimate_ns, 1) << "1: it waits; half a ms is a guess";
  rig.Settle();
}

class HotTurnTest : public EngineTest {
 protected:
  // Strands that left the loop while requests of 40 tasks of 1.9 us each came, one request a turn.
  uint64_t Pooled(int64_t hand_over_ns) {
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
    options.hand_over_ns = hand_over_ns;
    Rig& rig = MakeRig(options);
    for (int i = 0; i < 1100; ++i) {  // beyond the requests that are all timed
      rig.Start({i});
      rig.Turn();
      rig.Settle();
    }
    return rig.queue.pushed;
  }
};

TEST_F(HotTurnTest, MuchInlineWorkInOneTurnGoesToThePool) { EXPECT_GT(Pooled(0), 0U); }
TEST_F(HotTurnTest, WhatIsSoonerDoneThanHandedOverStays) { EXPECT_EQ(Pooled(5'000), 0U); }

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
  EXPECT_EQ(rig.answers[0].code, code::kTimeout);
  rig.Settle();
  EXPECT_EQ(rig.drained, 1);
}

TEST_F(EngineTest, ARequestWhoseDeadlinePassesBeforeItStartsRunsNothing) {
  const int value = Int(root_);
  builder_.Run(root_, {in_}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  bus::Bus* const bus =
      rig.engine->Create({.workflow = rig.plan.workflows, .client = &rig, .received_at = rig.clock.Now(), .timeout_ns = kMs});
  rig.clock.AdvanceNs(2 * kMs);  // its body was large
  rig.engine->Start(*bus);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, code::kTimeout);
  EXPECT_EQ(builder_.bodies_run(), 0U);
}

TEST_F(EngineTest, WorkThatComesTooLateIsObservedToo) {
  const int value = Int(root_);
  builder_.Run(root_, {in_}, value, Pooled());
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  bus::Bus* const bus = rig.Start({1});
  rig.RunJobs();
  rig.engine->Cancel(*bus);
  rig.Turn();
  EXPECT_EQ(rig.engine->stats().node_compute[0].count.value(), 1U);
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
  builder_.Enter(root_, target, {in_}, value, {.policy = builder_.Policy(policy)});
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
  builder_.Enter(root_, target, {in_}, value, {.policy = builder_.Policy(policy)});
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.queue.jobs.size(), 1U);
  rig.AdvanceNs(10 * kMs);
  EXPECT_EQ(rig.queue.jobs.size(), 1U);      // not begun again
  EXPECT_TRUE(rig.recorder.by_bus.empty());  // of timeouts
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
  EXPECT_EQ(builder_.bodies_run(), 1U);
  rig.AdvanceNs(3 * kMs);  // 1 ms, at most 50 % more
  EXPECT_EQ(builder_.bodies_run(), 2U);
  rig.AdvanceNs(5 * kMs);
  EXPECT_EQ(builder_.bodies_run(), 3U);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 8001);
}

TEST_F(EngineTest, WhatAnotherAttemptTookThePlaceOfIsToldNobody) {
  builder_.AddModel(true);
  wf_policy policy{};
  policy.retry = 1;
  BuildModelIn(policy);
  Rig& rig = MakeRig();
  for (const size_t fail_until : {2U, 100U}) {  // the second attempt does, or fails as the first
    rig.models[0]->run_rows.clear();
    rig.models[0]->fails = [&] { return rig.models[0]->run_rows.size() < fail_until; };
    rig.Start({1});
    rig.Settle();
    rig.AdvanceNs(3 * kMs);
    rig.Settle();
    EXPECT_EQ(rig.models[0]->run_rows.size(), 2U);
  }
  ASSERT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.answers[0].code, 0);
  EXPECT_EQ(rig.answers[1].code, code::kInference);
  EXPECT_TRUE(rig.hidden.empty());
}

TEST_F(EngineTest, DoesNotRetryWhatTheProgramDeclared) {
  wf_policy policy{};
  policy.retry = 2;
  const Node node = Enclosed(Failing(kBroken), builder_.Policy(policy));
  builder_.Return(root_, {node.value});
  Rig& rig = MakeRig();
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(builder_.bodies_run(), 1U);
}

TEST_F(EngineTest, ACancelledRequestWithdrawsItsRowAndGivesItsCreditBack) {
  BuildModel();
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
