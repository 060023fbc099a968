#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/abi/verify.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"

namespace wf::sched {
namespace {

using test::Kind;
using test::Rig;

// Calls that carry several samples of one workflow.
class SamplesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = builder_.Region();
    in_ = builder_.Slot(root_, Kind::kInt);
    value_ = builder_.Slot(root_, Kind::kInt);
    builder_.Workflow(root_, {in_}, {value_});
  }
  void TearDown() override { EXPECT_EQ(rig_->engine->live_buses(), 0U); }

  Rig& MakeRig(const EngineOptions& options = {}, const batch::BatcherOptions& batching = {}) {
    builder_.Return(root_, {value_});
    const wf_plan& plan = builder_.Finish(true);
    EXPECT_EQ(abi::Verify(plan).message(), "");
    rig_ = std::make_unique<Rig>(plan, options, batching);
    return *rig_;
  }
  bus::Bus& Start(uint32_t samples, int64_t first) {
    bus::Bus* const bus = rig_->engine->Create(
        {.workflow = rig_->plan.workflows, .client = rig_.get(), .samples = samples, .received_at = rig_->clock.Now()});
    for (uint32_t k = 0; k < samples; ++k) test::WriteInt(rig_->plan, rig_->plan.workflows->in[0].slot, bus->frame(k), first + k);
    rig_->engine->Start(*bus);
    return *bus;
  }

  test::PlanBuilder builder_;
  std::unique_ptr<Rig> rig_;
  int root_ = 0, in_ = 0, value_ = 0;
};

TEST_F(SamplesTest, TheyAreAnsweredTogetherAndAFailureNamesItsSample) {
  test::RunOptions fragile;
  fragile.body.fail_modulus = 4;
  builder_.Run(root_, {in_}, value_, fragile);
  Rig& rig = MakeRig();
  rig.keeps = true;
  int failed = 0, fine = 0;
  for (int i = 0; i < 20; ++i) {
    bus::Bus& bus = Start(3, i * 3);
    if (bus.failure() == nullptr) {
      ++fine;
    } else {
      ++failed;
      EXPECT_LT(bus.failure()->sample, 3U);
    }
    rig.engine->Release(bus);
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(fine, 0);
}

TEST_F(SamplesTest, TheLowestThatFailsIsNamedWhateverEndsFirst) {
  constexpr uint32_t kSamples = 12;
  test::RunOptions fragile;
  fragile.body.fail_modulus = 4;
  const int half = builder_.Slot(root_, Kind::kInt);
  builder_.Run(root_, {in_}, half, fragile);
  builder_.Run(root_, {half}, value_);
  Rig& rig = MakeRig({.schedule = Schedule::kPool});
  rig.keeps = true;
  std::vector<bool> fails;
  for (uint32_t k = 0; k < kSamples; ++k) {
    bus::Bus& bus = Start(1, k);
    rig.Settle();
    fails.push_back(bus.failure() != nullptr);
    rig.engine->Release(bus);
  }
  const auto lowest = std::find(fails.begin(), fails.end(), true) - fails.begin();
  ASSERT_GT(std::count(fails.begin(), fails.end(), true), 2);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    test::Workers workers(3);
    bus::Bus& bus = Start(kSamples, 0);
    while (bus.state() == bus::BusState::kRunning) {
      workers.Step(rig.queue, rig.clock, random);
      if (random() % 2 == 0) rig.Turn();
    }
    ASSERT_NE(bus.failure(), nullptr);
    EXPECT_EQ(bus.failure()->sample, lowest) << seed;
    rig.engine->Release(bus);
    for (int i = 0; i < 1000; ++i) workers.Step(rig.queue, rig.clock, random);
    rig.Settle();
  }
}

TEST_F(SamplesTest, OneThatMeetsAFullQueueWaitsForEarlierOnes) {
  builder_.AddModel(true);
  const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor);
  builder_.Run(root_, {in_}, x);
  builder_.Model(root_, 0, x, y);
  builder_.Run(root_, {y}, value_);
  batch::BatcherOptions batching;
  batching.policy.max_queued_rows = 2;
  Rig& rig = MakeRig({.schedule = Schedule::kPool}, batching);
  Start(100, 0);
  Start(1, 0);  // none of its own is in flight
  rig.Settle();
  ASSERT_EQ(rig.answers.size(), 2U);
  EXPECT_EQ(rig.answers[0].message, "model `M0`: its queue is full");
  EXPECT_EQ(rig.answers[1].code, 0) << rig.answers[1].message;
  EXPECT_EQ(rig.batchers[0]->stats().rows.load(), 100U);
  EXPECT_EQ(rig.batchers[0]->queued_rows(), 0);
}

}  // namespace
}  // namespace wf::sched
