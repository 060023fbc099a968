// Model calls: on the loop, or by rows of a batcher.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/runtime/sched/engine_fixture.h"

namespace wf::sched {
namespace {

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
  // From now on model calls have this policy.
  void Retune(const wf_policy& policy) {
    tuned_ = rig_->plan;
    tasks_.assign(tuned_.tasks, tuned_.tasks + tuned_.n_tasks);
    policies_.assign(tuned_.policies, tuned_.policies + tuned_.n_policies);
    for (wf_task& task : tasks_) {
      if (task.kind == WF_MODEL) task.policy = static_cast<uint16_t>(policies_.size());
    }
    policies_.push_back(policy);
    tuned_.tasks = tasks_.data();
    tuned_.policies = policies_.data();
    next_ = std::make_unique<Catalogue>(2, tuned_.n_tasks);
    next_->by_task = rig_->catalogue.by_task;
    next_->tuned = &tuned_;
    rig_->engine->SetCatalogue(*next_);
  }
  void TearDown() override {
    EngineTest::TearDown();
    rig_.reset();  // before what it refers to
  }

  int x_ = 0, y_ = 0;
  wf_plan tuned_{};
  std::vector<wf_task> tasks_;
  std::vector<wf_policy> policies_;
  std::unique_ptr<Catalogue> next_;
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
  EXPECT_EQ(rig.answers[0].code, code::kRefused);
  rig.Settle();
  EXPECT_EQ(rig.answers.size(), 3U);
}

TEST_F(ModelTest, RunsOnTheLoopWhenABatchWouldNotPay) {
  Rig& rig = MakeRig();
  rig.batchers[0]->cost().Learn(1, 10'000);
  rig.Start({1});
  EXPECT_TRUE(rig.models[0]->run_rows.empty());  // nothing is known of its batches yet: the batcher decides after a run
  rig.Settle();
  rig.Start({1});
  EXPECT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.models[0]->run_rows.size(), 2U);
  EXPECT_EQ(rig.batchers[0]->stats().rows.load(), 1U);  // the second never came to it
  EXPECT_EQ(rig.answers[0].values, rig.answers[1].values);
}

TEST_F(ModelTest, ALoopThatHasRunEnoughRunsWhatAFullQueueWouldRefuse) {
  batch::BatcherOptions batching;
  batching.policy.max_queued_rows = 2;
  Rig& rig = MakeRig({.inline_turn_ns = -1}, batching);
  rig.batchers[0]->cost().Learn(1, 10'000);
  rig.Start({1});
  rig.Settle();
  ASSERT_TRUE(rig.batchers[0]->inline_pays());
  for (int i = 0; i < 5; ++i) rig.Start({1});
  EXPECT_EQ(rig.batchers[0]->queued_rows(), 2);
  EXPECT_EQ(rig.answers.size(), 4U);  // the first, and three of five
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 6U);
  for (const Rig::Answer& answer : rig.answers) EXPECT_EQ(answer.values, rig.answers[0].values) << answer.message;
  EXPECT_EQ(rig.engine->stats().refused_full.value(), 0U);
}

TEST_F(ModelTest, BetweenTwoTurnsTheLoopRunsOneBatchThatIsShort) {
  Rig& rig = MakeRig({.between_turns_ns = 2'000'000});
  EXPECT_FALSE(rig.engine->OnIdle());
  for (int64_t size = 1; size <= 8; size *= 2) rig.batchers[0]->cost().Learn(size, 1'000'000 + size);  // no longer short enough for a turn
  for (int i = 0; i < 2; ++i) rig.Start({1});
  EXPECT_TRUE(rig.answers.empty());
  EXPECT_EQ(rig.batchers[0]->queued_rows(), 2) << "they wait in the queue, where others and the door see them";
  ASSERT_TRUE(rig.engine->OnIdle());
  rig.Turn();
  EXPECT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.models[0]->run_rows, std::vector<int64_t>{2});
  EXPECT_FALSE(rig.engine->OnIdle());
}

TEST_F(ModelTest, ABatchThatIsTooLongForItIsAThreads) {
  Rig& rig = MakeRig({.between_turns_ns = 2'000'000});
  rig.batchers[0]->cost().Learn(1, 3'000'000);
  rig.Start({1});
  EXPECT_FALSE(rig.engine->OnIdle());
  EXPECT_TRUE(rig.models[0]->run_rows.empty());
  rig.Settle();
  EXPECT_EQ(rig.answers.size(), 1U);
}

// It is woken when the row comes: a loop that always has something short to run would not get to tell it.
TEST_F(ModelTest, AThreadIsWokenForABatchThatIsTooLongForTheLoop) {
  const wf_plan& plan = builder_.Finish(true);
  rig_ = std::make_unique<Rig>(plan, EngineOptions{.between_turns_ns = 2'000'000}, batch::BatcherOptions{}, /*threads=*/1);
  rig_->batchers[0]->cost().Learn(1, 3'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the thread sleeps
  rig_->Start({1});
  for (int i = 0; i < 500 && rig_->mailbox.empty(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(rig_->mailbox.empty());
  rig_->Settle();
  EXPECT_EQ(rig_->answers.size(), 1U);
}

// Alone it would meet the queue full, too: no waiting helps.
TEST_F(EngineTest, ARowThatMeetsAQueueFullOfItsOwnRequestWaits) {
  builder_.AddModel(true);
  const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor), z = builder_.Slot(root_, Kind::kTensor);
  const int first = Int(root_), second = Int(root_), value = Int(root_);
  builder_.Run(root_, {in_}, x);
  builder_.Model(root_, 0, x, y);
  builder_.Model(root_, 0, x, z);
  builder_.Run(root_, {y}, first);
  builder_.Run(root_, {z}, second);
  builder_.Run(root_, {first, second}, value);
  builder_.Return(root_, {value});
  batch::BatcherOptions batching;
  batching.policy.max_queued_rows = 1;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching, /*with_strands=*/false);
  rig.Start({1});  // one of its rows has a place, the other waits for it
  rig.Start({2});  // none has: it is refused once
  rig.RunJobs();
  rig.Turn();
  EXPECT_EQ(rig.engine->stats().refused_full.value(), 1U);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, code::kRefused);
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.answers[1].code, 0) << rig.answers[1].message;
  EXPECT_EQ(rig.models[0]->run_rows.size(), 2U);
}

TEST_F(EngineTest, AStrandBeforeAFullQueueEndsBeforeItsModel) {
  builder_.AddModel(true);
  const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor), value = Int(root_);
  builder_.Run(root_, {in_}, x, Pooled());
  builder_.Model(root_, 0, x, y);
  builder_.Run(root_, {y}, value);
  builder_.Return(root_, {value});
  batch::BatcherOptions batching;
  batching.policy.max_queued_rows = 1;
  Rig& rig = MakeRig({.inline_turn_ns = -1}, batching);
  rig.batchers[0]->cost().Learn(1, 10'000);
  rig.Start({1});
  rig.Settle();
  ASSERT_TRUE(rig.batchers[0]->inline_pays());
  for (int i = 0; i < 3; ++i) rig.Start({1});
  EXPECT_EQ(rig.queue.jobs.size(), 3U);
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 4U);
  for (const Rig::Answer& answer : rig.answers) EXPECT_EQ(answer.values, rig.answers[0].values) << answer.message;
}

TEST_F(ModelTest, AFailedRunFailsTheCallWithTheModelsWords) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.models[0]->fails = [] { return true; };
  rig.Start({1});
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, code::kInference);
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
  EXPECT_EQ(rig.answers[0].code, code::kTimeout);
}

TEST_F(EngineTest, ANodesTimeoutHasOneWordingWhoeverSeesItFirst) {
  builder_.AddModel(true);
  wf_policy policy{};
  policy.timeout_ns = 3 * kMs;
  policy.retry = 1;
  BuildModelIn(policy);
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  for (const bool executor_first : {true, false}) {
    rig.Start({1});
    rig.RunJobs();
    rig.Turn();
    rig.clock.AdvanceNs(4 * kMs);
    if (executor_first) {
      EXPECT_FALSE(rig.RunBatch());
    }
    rig.Turn();
  }
  ASSERT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.answers[0].code, code::kTimeout);
  EXPECT_EQ(rig.answers[0].message, "the node's timeout has passed");
  EXPECT_EQ(rig.answers[1].message, rig.answers[0].message);
  EXPECT_EQ(rig.answers[1].path, rig.answers[0].path);
  EXPECT_TRUE(rig.models[0]->run_rows.empty());
}

TEST_F(ModelTest, ARequestKeepsThePoliciesOfItsCatalogue) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.Start({1});  // without `within`
  wf_policy within{};
  within.delay_ns = 5 * kMs;
  Retune(within);
  rig.RunJobs();
  ASSERT_TRUE(rig.RunBatch());  // at once
  rig.Turn();
  rig.Start({1});
  rig.RunJobs();
  EXPECT_FALSE(rig.RunBatch());
  rig.clock.AdvanceNs(5 * kMs);
  EXPECT_TRUE(rig.RunBatch());
  rig.Settle();
  EXPECT_EQ(rig.answers.size(), 2U);
}

TEST_F(ModelTest, RowsOfAHighPriorityGoFirst) {
  batch::BatcherOptions batching;
  batching.policy.max_rows = 1;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching);
  rig.keeps = true;
  bus::Bus* const normal = rig.Start({1});
  wf_policy policy{};
  policy.priority = WF_HIGH;
  Retune(policy);
  bus::Bus* const high = rig.Start({1});
  rig.RunJobs();
  ASSERT_TRUE(rig.RunBatch());
  rig.Turn();
  rig.RunJobs();
  rig.Turn();
  EXPECT_EQ(high->state(), bus::BusState::kAnswered);
  EXPECT_EQ(normal->state(), bus::BusState::kRunning);
  rig.Settle();
  rig.engine->Release(*high);
  rig.engine->Release(*normal);
}

// One run at a time, of one row, 10 ms each.
Rig& Slow(Rig& rig) {
  for (int i = 0; i < 40; ++i) rig.batchers[0]->cost().Learn(1, 10 * kMs);
  rig.batchers[0]->LearnFrom(*rig.batchers[0]);  // works out what follows
  return rig;
}

class QueueTest : public ModelTest {
 protected:
  Rig& MakeSlow() {
    batch::BatcherOptions batching;
    batching.policy.max_rows = 1;
    return Slow(MakeRig({.schedule = Schedule::kPool}, batching));
  }
};

TEST_F(QueueTest, WhoWouldBeLateForThoseBeforeIsRefusedAtOnce) {
  Rig& rig = MakeSlow();
  for (int i = 0; i < 5; ++i) rig.Start({i}, 50 * kMs);
  rig.RunJobs();
  ASSERT_TRUE(rig.answers.empty());  // 10 to 50 ms
  const wf_workflow& workflow = rig.plan.workflows[0];
  EXPECT_EQ(rig.engine->HopelessNs(workflow, nullptr, rig.clock.Now(), rig.clock.Now() + 50 * kMs), 50 * kMs);
  EXPECT_EQ(rig.engine->HopelessNs(workflow, nullptr, rig.clock.Now(), rig.clock.Now() + 60 * kMs), 0);
  EXPECT_EQ(rig.engine->HopelessNs(workflow, nullptr, rig.clock.Now(), rig.clock.Now() + 49 * kMs), 0);  // goes before all of them
  rig.Start({5}, 50 * kMs);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, code::kRefused);
  EXPECT_EQ(rig.answers[0].message, kWouldBeLate);
  EXPECT_EQ(rig.engine->stats().refused_late.value(), 1U);
  EXPECT_TRUE(rig.queue.jobs.empty());  // nothing was spent on it
  rig.Settle();
  EXPECT_EQ(rig.answers.size(), 6U);
}

// Another time a request would bring as many rows.
TEST_F(QueueTest, WhoWouldBeLateForItsOwnRowsIsNotRefused) {
  constexpr uint32_t kSamples = 6;
  Rig& rig = MakeSlow();
  bus::Bus* const bus = rig.engine->Create(
      {.workflow = rig.plan.workflows, .client = &rig, .samples = kSamples, .received_at = rig.clock.Now(), .timeout_ns = 35 * kMs});
  for (uint32_t k = 0; k < kSamples; ++k) test::WriteInt(rig.plan, rig.plan.workflows->in[0].slot, bus->frame(k), k);
  rig.engine->Start(*bus);
  rig.RunJobs();
  EXPECT_TRUE(rig.answers.empty());
  EXPECT_EQ(rig.engine->stats().refused_late.value(), 0U);
  rig.AdvanceNs(35 * kMs);
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, code::kTimeout);
}

TEST_F(QueueTest, WhatWaitingDoesNotCureIsNotRefused) {
  Rig& rig = MakeSlow();
  rig.Start({0}, 5 * kMs);  // less than a run, and nobody before it
  rig.RunJobs();
  for (int i = 1; i < 4; ++i) rig.Start({i}, 9 * kMs);
  rig.RunJobs();
  EXPECT_TRUE(rig.answers.empty());
  rig.AdvanceNs(10 * kMs);
  ASSERT_EQ(rig.answers.size(), 4U);
  for (const Rig::Answer& answer : rig.answers) EXPECT_EQ(answer.code, code::kTimeout);
}

TEST_F(QueueTest, WhatIsNotKnownRefusesNobody) {
  batch::BatcherOptions batching;
  batching.policy.max_rows = 1;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching);
  for (int i = 0; i < 20; ++i) rig.Start({i}, kMs);
  rig.RunJobs();
  EXPECT_TRUE(rig.answers.empty());
  rig.Settle();
}

TEST_F(ModelTest, CountsRunsNotAttempts) {
  constexpr uint32_t kSamples = 12;
  batch::BatcherOptions batching;
  batching.policy.max_rows = 1;
  batching.policy.max_queued_rows = 2;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching);
  rig.keeps = true;
  bus::Bus* const bus =
      rig.engine->Create({.workflow = rig.plan.workflows, .client = &rig, .samples = kSamples, .received_at = rig.clock.Now()});
  for (uint32_t k = 0; k < kSamples; ++k) test::WriteInt(rig.plan, rig.plan.workflows->in[0].slot, bus->frame(k), k);
  rig.engine->Start(*bus);  // those that find the queue full try again and again
  rig.Settle();
  EXPECT_EQ(bus->failure(), nullptr);
  rig.engine->Release(*bus);
  bus::Bus* const left = rig.Start({1});
  rig.RunJobs();
  rig.engine->Cancel(*left);  // its strand has run, its row has not
  rig.keeps = false;
  EXPECT_EQ(rig.engine->stats().task[0].count(), kSamples + 1);
  EXPECT_EQ(rig.engine->stats().task[1].count(), kSamples);
  EXPECT_EQ(rig.engine->stats().task[2].count(), kSamples);
}

TEST_F(QueueTest, OfRowsThatWaitAtOnceARequestCountsEachMomentOnce) {
  constexpr uint32_t kSamples = 3;
  Rig& rig = MakeSlow();
  rig.keeps = true;
  bus::Bus* const bus = rig.engine->Create(
      {.workflow = rig.plan.workflows, .client = &rig, .samples = kSamples, .received_at = rig.clock.Now(), .timeout_ns = 1000 * kMs});
  for (uint32_t k = 0; k < kSamples; ++k) test::WriteInt(rig.plan, rig.plan.workflows->in[0].slot, bus->frame(k), k);
  rig.engine->Start(*bus);
  rig.RunJobs();
  for (uint32_t k = 0; k < kSamples; ++k) {
    rig.clock.AdvanceNs(10 * kMs);
    ASSERT_TRUE(rig.RunBatch());
    rig.Turn();
  }
  rig.Settle();
  ASSERT_EQ(bus->state(), bus::BusState::kAnswered);
  EXPECT_EQ(rig.engine->stats().queue_wait[1].sum_ns.value(), static_cast<uint64_t>((10 + 20 + 30) * kMs));
  EXPECT_EQ(bus->spent().queue_ns(), 30 * kMs);
  rig.engine->Release(*bus);
}

TEST_F(ModelTest, EveryRowThatLeavesTheQueueHasWaitedAndOnlyThoseThatRanHaveComputed) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  const DurationHistogram &waits = rig.engine->stats().queue_wait[1], &runs = rig.engine->stats().node_compute[1];
  rig.Start({1}, 2 * kMs);
  rig.RunJobs();
  rig.clock.AdvanceNs(3 * kMs);
  EXPECT_FALSE(rig.RunBatch());  // too late, as the executor saw
  rig.Turn();
  EXPECT_EQ(waits.count.value(), 1U);
  rig.Start({2}, 2 * kMs);
  rig.RunJobs();
  rig.AdvanceNs(4 * kMs);  // too late, as the loop saw
  EXPECT_EQ(waits.count.value(), 2U);
  bus::Bus* const left = rig.Start({3});
  rig.RunJobs();
  rig.clock.AdvanceNs(5 * kMs);
  rig.engine->Cancel(*left);
  EXPECT_EQ(waits.count.value(), 3U);
  EXPECT_EQ(waits.sum_ns.value(), static_cast<uint64_t>(12 * kMs));
  EXPECT_EQ(runs.count.value(), 0U);
  rig.Start({4});
  rig.Settle();
  EXPECT_EQ(waits.count.value(), 4U);
  EXPECT_EQ(runs.count.value(), 1U);
}

TEST_F(ModelTest, CountsWaitsAndRunsByNode) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  for (int i = 0; i < 3; ++i) rig.Start({i});
  rig.Settle();
  const EngineStats& stats = rig.engine->stats();
  EXPECT_EQ(stats.queue_wait[1].count.value(), 3U);
  EXPECT_EQ(stats.node_compute[0].count.value(), 3U);
  EXPECT_EQ(stats.stage[0].count.value(), 3U);
  EXPECT_EQ(rig.batchers[0]->stats().rows.load(), 3U);
}

// Nodes are of one stage and the other in turn.
TEST_F(ModelTest, AModelAtTheEndOfAStrandHasTheTimesOfItsOwnStage) {
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.Start({1});
  rig.RunJobs();
  rig.clock.AdvanceNs(3 * kMs);
  ASSERT_TRUE(rig.RunBatch());
  rig.Settle();
  const DurationHistogram& stage = rig.engine->stats().stage[1];
  EXPECT_EQ(stage.count.value(), 1U);
  EXPECT_EQ(stage.sum_ns.value(), static_cast<uint64_t>(3 * kMs));
}

TEST_F(EngineTest, TasksInsideAStrandBeginAndEndTheirStagesWhenTheyRun) {
  const int first = Int(root_), second = Int(root_);
  builder_.Run(root_, {in_}, first, Pooled());
  const int last = builder_.Run(root_, {first}, second, Pooled());
  builder_.SameNode(builder_.Return(root_, {second}), last);
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.Start({1});
  ASSERT_EQ(rig.queue.jobs.size(), 1U);
  rig.clock.AdvanceNs(2 * kMs);
  ASSERT_TRUE(rig.queue.jobs.front()->Step(rig.clock));
  rig.clock.AdvanceNs(3 * kMs);
  rig.RunJobs();
  rig.clock.AdvanceNs(4 * kMs);
  rig.Settle();
  const EngineStats& stats = rig.engine->stats();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(stats.stage[0].count.value(), 1U);
  EXPECT_EQ(stats.stage[0].sum_ns.value(), static_cast<uint64_t>(2 * kMs));  // it waited for a thread
  EXPECT_EQ(stats.stage[1].count.value(), 1U);
  EXPECT_EQ(stats.stage[1].sum_ns.value(), static_cast<uint64_t>(4 * kMs));
}

}  // namespace
}  // namespace wf::sched
