#pragma once

#include <gtest/gtest.h>

#include "runtime/abi/verify.h"
#include "runtime/sched/engine.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"

// One loop, a workflow with one parameter, and nothing that moves unless the test says so.
namespace wf::sched {

using test::Kind;
using test::PlanBuilder;
using test::Rig;
using test::RunOptions;

inline constexpr int64_t kMs = 1'000'000;
inline constexpr wf_code kBroken = 100001;

inline RunOptions Failing(wf_code code = kBroken) {
  RunOptions options;
  options.body.fail_modulus = 1;  // always
  options.body.fail_code = code;
  return options;
}

inline RunOptions Pooled() {
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

  // root: returns what model 0 makes of the request, in a node with this policy
  void BuildModelIn(const wf_policy& policy) {
    const int x = builder_.Slot(root_, Kind::kTensor), value = builder_.Slot(root_, Kind::kTensor), last = Int(root_);
    const int target = builder_.Region(root_), y = builder_.Slot(target, Kind::kTensor);
    builder_.Run(root_, {in_}, x);
    builder_.Model(target, 0, x, y);
    builder_.SetResult(target, y);
    builder_.Enter(root_, target, {x}, value, {.policy = builder_.Policy(policy)});
    builder_.Run(root_, {value}, last);
    builder_.Return(root_, {last});
  }

  // root: returns what model 0 makes of the request, or, where that is not read, something else beside it
  void BuildModel(bool is_read = true) {
    builder_.AddModel(true);
    const int x = builder_.Slot(root_, Kind::kTensor), y = builder_.Slot(root_, Kind::kTensor), value = Int(root_);
    builder_.Run(root_, {in_}, x);
    builder_.Model(root_, 0, x, y);
    builder_.Run(root_, {is_read ? y : in_}, value);
    builder_.Return(root_, {value});
  }

  // root: value = body(in), with its own ENTER
  struct Node {
    int target, value;
  };
  Node Enclosed(const RunOptions& inner, int policy) {
    const int target = builder_.Region(root_);
    const int slot = Int(target), value = Int(root_);
    builder_.Run(target, {in_}, slot, inner);
    builder_.SetResult(target, slot);
    builder_.Enter(root_, target, {in_}, value, {.policy = policy});
    return {target, value};
  }

  PlanBuilder builder_;
  std::unique_ptr<Rig> rig_;
  int root_ = 0, in_ = 0, out_ = 0;
};

}  // namespace wf::sched
