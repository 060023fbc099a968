// Fan-out: elements, windows, full queues.

#include <gtest/gtest.h>

#include "tests/unit/runtime/sched/engine_fixture.h"

namespace wf::sched {
namespace {

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
    builder_.Each(root_, {body, window}, {in_}, list, pick);
    builder_.Run(root_, {list}, value);
    builder_.Return(root_, {value});
  }
  // value = [task(in) for up to `most` elements]
  void BuildTasks(int64_t most, const RunOptions& task = {}) {
    const int body = builder_.Region(root_);
    const int element = Int(body), list = builder_.Slot(root_, Kind::kList), value = Int(root_);
    builder_.Run(body, {in_}, element, task);
    builder_.SetResult(body, element);
    RunOptions pick;
    pick.body.arms = most;
    builder_.Each(root_, {body, 4}, {in_}, list, pick);
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
  BuildTasks(20'000);
  Rig& rig = MakeRig({.schedule = Schedule::kInline, .inline_turn_ns = INT64_C(1'000'000'000)});
  uint64_t elements = 0;
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = builder_.bodies_run();
    bus::Bus* const bus = rig.Start({i});
    (void)bus;
    elements = std::max(elements, builder_.bodies_run() - before);
  }
  EXPECT_GT(elements, 5'000U);
  EXPECT_LE(rig.memory.held_bytes, 64 << 10);  // all but one first chunk went back
  EXPECT_LT(rig.memory.takes, 10 * 4);         // the results, and little else; a frame per element would be 5 MB
}

class ManyElementsTest : public FanOutTest {
 protected:
  // Up to 1,000 elements of one task, which is sooner done than handed over; a turn has room for some of them.
  Rig& MakeElements() {
    RunOptions cheap;
    cheap.cost_ns = 1'900;
    BuildTasks(1'000, cheap);
    Rig& rig = MakeRig({.inline_turn_ns = 20'000, .time_every = 1 << 30});
    for (int i = 0; i < 1'100; ++i) {  // beyond the requests that are all timed, by a clock that stands still
      rig.Start({i});
      rig.Settle();
    }
    rig.answers.clear();
    rig.drained = 0;
    return rig;
  }
};

TEST_F(ManyElementsTest, BeginInSeveralTurnsAndLetOthersIn) {
  Rig& rig = MakeElements();
  const uint64_t warm = builder_.bodies_run();
  for (int i = 0; i < 10; ++i) rig.Start({i});
  rig.Turn();
  const uint64_t first_turn = builder_.bodies_run();
  EXPECT_LT(first_turn, warm + 200);
  const size_t answered = rig.answers.size();
  EXPECT_LT(answered, 10U);
  int turns = 0;
  for (uint64_t before = first_turn; rig.engine->OnIdle(); ++turns) {
    EXPECT_LT(builder_.bodies_run() - before, 200U);
    before = builder_.bodies_run();
    EXPECT_TRUE(rig.engine->OnIdle()) << "no more of it before the sockets were looked at";
    EXPECT_EQ(builder_.bodies_run(), before);
    rig.Turn();
  }
  EXPECT_GT(turns, 10);
  EXPECT_EQ(rig.answers.size(), 10U);
  EXPECT_TRUE(rig.queue.jobs.empty());
}

TEST_F(ManyElementsTest, ThatHaveNotBegunEndWithTheRequest) {
  Rig& rig = MakeElements();
  for (int i = 0; i < 10; ++i) rig.Start({i}, kMs);
  const size_t answered = rig.answers.size();
  ASSERT_LT(answered, 10U);
  rig.AdvanceNs(2 * kMs);
  ASSERT_EQ(rig.answers.size(), 10U);
  EXPECT_EQ(rig.answers.back().code, code::kTimeout);
  const uint64_t before = builder_.bodies_run();
  rig.Settle();
  EXPECT_EQ(builder_.bodies_run(), before);
  EXPECT_EQ(rig.drained, 10);
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
  builder_.Each(root_, {body, 1}, {in_}, list, pick);
  builder_.Run(root_, {list}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig({.schedule = Schedule::kInline});
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  EXPECT_GT(builder_.bodies_run(), 10U);
  EXPECT_EQ(builder_.bodies_run() % 2, 1U);  // two per element, one for the list
}

TEST_F(FanOutTest, MoreThan65536ElementsAreRefused) {
  const int body = builder_.Region(root_);
  const int element = Int(body), list = builder_.Slot(root_, Kind::kList), value = Int(root_);
  builder_.Run(body, {in_}, element);
  builder_.SetResult(body, element);
  RunOptions pick;
  pick.body.arms = INT64_C(1) << 50;
  builder_.Each(root_, {body, 4}, {in_}, list, pick);
  builder_.Run(root_, {list}, value);
  builder_.Return(root_, {value});
  Rig& rig = MakeRig();
  rig.Start({2});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, code::kInputParams);
}

}  // namespace
}  // namespace wf::sched
