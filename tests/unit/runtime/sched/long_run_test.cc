#include "runtime/sched/long_run.h"

#include "tests/unit/runtime/sched/engine_fixture.h"

namespace wf::sched {
namespace {

constexpr int64_t kMilli = 1'000'000;

TEST(LongRunTest, OnlyARunThatIsSeenAgainIsTold) {
  LongRun runs;
  EXPECT_FALSE(runs.Look(0, 0));
  EXPECT_FALSE(runs.Look(1000 * kMilli, 1000 * kMilli));
  for (int i = 0; i < 3; ++i) {
    runs.Begin();
    EXPECT_TRUE(runs.Look(2000 * kMilli, 2000 * kMilli));
    EXPECT_FALSE(runs.End());
    EXPECT_TRUE(runs.Look(3000 * kMilli, 3000 * kMilli));
    EXPECT_FALSE(runs.Look(4000 * kMilli, 4000 * kMilli));
  }
  runs.Begin();
  EXPECT_TRUE(runs.Look(5000 * kMilli, 5000 * kMilli));
  EXPECT_EQ(*runs.stop_word(), 0U);
  EXPECT_TRUE(runs.Look(5010 * kMilli, 5004 * kMilli));
  EXPECT_EQ(*runs.stop_word(), 1U);
  EXPECT_TRUE(runs.End());
  EXPECT_EQ(*runs.stop_word(), 0U);
}

TEST(LongRunTest, WhoIsKeptOffItsCpuIsLeftAlone) {
  LongRun runs;
  runs.Begin();
  runs.Look(0, 0);
  runs.Look(99 * kMilli, 3 * kMilli);
  EXPECT_EQ(*runs.stop_word(), 0U);
  runs.Look(100 * kMilli, 3 * kMilli);  // or waits for what may not come
  EXPECT_TRUE(runs.End());
}

// A body during which the engine is watched twice, as by another thread.
struct Watched {
  Engine* engine = nullptr;
  wf_code (*body)(wf_ctx*, void* const*) = nullptr;
  bool looks = true;  // at the stop word
  int runs = 0;
  int64_t cpu_ns = 0;
};
Watched watched;

wf_code RunWatched(wf_ctx* ctx, void* const* frames) {
  ++watched.runs;
  watched.engine->Watch(0, watched.cpu_ns);
  watched.engine->Watch(0, watched.cpu_ns += 5 * kMilli);
  if (watched.looks && *ctx->stop != 0) return WF_FAILED;
  return watched.body(ctx, frames);
}

class LongRunOnLoop : public EngineTest {
 protected:
  Rig& MakeWatched(bool looks) {
    const int value = Int(root_);
    const int task = builder_.Run(root_, {in_}, value);
    builder_.Return(root_, {value});
    Rig& rig = MakeRig();
    wf_task& row = const_cast<wf_task&>(rig.plan.tasks[task]);  // of the builder
    watched = {rig.engine.get(), row.fn.run, looks};
    row.fn.run = RunWatched;
    return rig;
  }
};

TEST_F(LongRunOnLoop, IsBegunAnewOnThePoolAndBarred) {
  Rig& rig = MakeWatched(true);
  rig.Start({1});
  EXPECT_EQ(rig.answers.size(), 0U);
  EXPECT_EQ(rig.queue.pushed, 1U);
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  EXPECT_EQ(watched.runs, 2);
  EXPECT_EQ(rig.engine->stats().task[0].runs[static_cast<int>(Placement::kMoved)].value(), 1U);
  rig.Start({2});
  EXPECT_EQ(rig.queue.pushed, 2U);
  rig.Settle();
  EXPECT_EQ(watched.runs, 3);
  EXPECT_EQ(rig.answers[1].code, 0);
}

TEST_F(LongRunOnLoop, ThatEndsAllTheSameIsAnswered) {
  Rig& rig = MakeWatched(false);
  rig.Start({1});
  ASSERT_EQ(rig.answers.size(), 1U);
  EXPECT_EQ(rig.answers[0].code, 0);
  EXPECT_EQ(rig.queue.pushed, 0U);
  EXPECT_EQ(watched.runs, 1);
}

}  // namespace
}  // namespace wf::sched
