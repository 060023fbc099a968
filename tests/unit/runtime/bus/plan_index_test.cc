#include "runtime/bus/plan_index.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/abi/verify.h"
#include "runtime/bus/instance.h"
#include "tests/unit/support/plan_builder.h"

namespace wf::bus {
namespace {

using test::Kind;
using test::RunOptions;

class PlanIndexTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = builder_.Region();
    in_ = Int(root_);
    out_ = Int(root_);
    builder_.Workflow(root_, {in_}, {out_});
  }
  int Int(int region) { return builder_.Slot(region, Kind::kInt); }
  const PlanIndex& Index() {
    const wf_plan& plan = builder_.Finish(true);
    EXPECT_EQ(abi::Verify(plan).message(), "");
    index_ = std::make_unique<PlanIndex>(plan);
    return *index_;
  }
  const wf_task& Task(int handle) const { return index_->plan().tasks[builder_.TaskOf(handle)]; }
  uint16_t RegionOf(int slot) const { return index_->plan().slots[builder_.SlotOf(slot)].region; }

  test::PlanBuilder builder_;
  std::unique_ptr<PlanIndex> index_;
  int root_ = 0, in_ = 0, out_ = 0;
};

TEST_F(PlanIndexTest, KnowsByWhatARegionIsEntered) {
  const int attempt = builder_.Region(root_), fallback = builder_.Region(root_), body = builder_.Region(root_);
  const int tried = Int(attempt), element = Int(body);
  builder_.Run(attempt, {in_}, tried);
  builder_.SetResult(attempt, tried);
  builder_.SetFallback(attempt, fallback);
  const int other = Int(fallback);
  builder_.Run(fallback, {builder_.FirstSlot(fallback)}, other);
  builder_.SetResult(fallback, other);
  builder_.Run(body, {in_}, element);
  builder_.SetResult(body, element);
  const int value = Int(root_), list = builder_.Slot(root_, Kind::kList);
  const int enter = builder_.Enter(root_, attempt, {in_}, value);
  RunOptions pick;
  pick.body.arms = 5;
  const int each = builder_.Each(root_, {body, 2}, {in_}, list, pick);
  builder_.Run(root_, {value, list}, out_);
  builder_.Return(root_, {out_});
  const PlanIndex& index = Index();
  const RegionInfo &of_root = index.region(RegionOf(in_)), &of_attempt = index.region(RegionOf(tried)),
                   &of_fallback = index.region(RegionOf(other)), &of_body = index.region(RegionOf(element));
  EXPECT_EQ(of_root.how, EnteredBy::kRequest);
  EXPECT_EQ(of_root.given, std::vector<uint16_t>{builder_.SlotOf(in_)}) << "its parameters are there at once";
  EXPECT_TRUE(of_root.ended_by_return);
  EXPECT_EQ(of_attempt.how, EnteredBy::kEnter);
  EXPECT_EQ(of_attempt.entered_by, builder_.TaskOf(enter));
  EXPECT_FALSE(of_attempt.reusable);
  EXPECT_EQ(of_fallback.how, EnteredBy::kFailure);
  EXPECT_EQ(of_fallback.entered_by, builder_.TaskOf(enter)) << "whose attempts it catches";
  EXPECT_EQ(of_fallback.given, std::vector<uint16_t>{index.plan().regions[RegionOf(other)].first_slot}) << "err";
  EXPECT_EQ(of_body.how, EnteredBy::kEach);
  EXPECT_EQ(of_body.entered_by, builder_.TaskOf(each));
  EXPECT_TRUE(of_body.reusable);
}

TEST_F(PlanIndexTest, CountsTheRegionsBetweenAReaderAndASlot) {
  const int outer = builder_.Region(root_), inner = builder_.Region(outer);
  const int x = Int(outer), y = Int(inner), z = Int(outer), value = Int(root_);
  builder_.Run(outer, {in_}, x);
  builder_.Run(inner, {in_, x}, y);
  builder_.SetResult(inner, y);
  builder_.Enter(outer, inner, {in_, x}, z);
  builder_.SetResult(outer, z);
  builder_.Enter(root_, outer, {in_}, value);
  builder_.Return(root_, {value});
  const PlanIndex& index = Index();
  EXPECT_EQ(index.region(RegionOf(y)).depth, 2);
  EXPECT_EQ(index.HopsTo(RegionOf(y), builder_.SlotOf(y)), 0);
  EXPECT_EQ(index.HopsTo(RegionOf(y), builder_.SlotOf(x)), 1);
  EXPECT_EQ(index.HopsTo(RegionOf(y), builder_.SlotOf(in_)), 2);
}

TEST_F(PlanIndexTest, AReturnEndsTheRegionAroundTheArmsThatItStandsIn) {
  const int arm = builder_.Region(root_);
  const int value = Int(arm);
  builder_.Run(arm, {in_}, value);
  const int early = builder_.Return(arm, {value});
  RunOptions pick;
  pick.control = pick.lets_in_early = true;
  pick.body.arms = 2;
  const int select = builder_.Select(root_, {arm}, {in_}, -1, pick);
  const int last = Int(root_);
  builder_.Run(root_, {in_}, last, {.after = {select}});
  const int late = builder_.Return(root_, {last}, {select});
  const PlanIndex& index = Index();
  EXPECT_EQ(index.region(Task(early).region).how, EnteredBy::kSelect);
  EXPECT_EQ(index.task(builder_.TaskOf(early)).return_hops, 1);
  EXPECT_EQ(index.task(builder_.TaskOf(late)).return_hops, 0);
  EXPECT_TRUE(index.region(Task(early).region).ended_by_return);
  EXPECT_TRUE(index.region(Task(late).region).ended_by_return);
}

TEST_F(PlanIndexTest, TheTasksOfOneNodeShareItsTime) {
  const int x = Int(root_), y = Int(root_), z = Int(root_);
  const int first = builder_.Run(root_, {in_}, x);
  const int other = builder_.Run(root_, {x}, y);
  const int last = builder_.Run(root_, {y}, z);
  builder_.SameNode(last, first);
  builder_.Return(root_, {z});
  const PlanIndex& index = Index();
  const TaskInfo &of_first = index.task(builder_.TaskOf(first)), &of_other = index.task(builder_.TaskOf(other)),
                 &of_last = index.task(builder_.TaskOf(last));
  EXPECT_NE(of_first.share, WF_NONE);
  EXPECT_EQ(of_first.share, of_last.share);
  EXPECT_EQ(of_other.share, WF_NONE);
  EXPECT_FALSE(of_first.ends_node);
  EXPECT_TRUE(of_other.ends_node);
  EXPECT_TRUE(of_last.ends_node);
  EXPECT_EQ(index.region(RegionOf(in_)).n_shared, 1);
}

TEST_F(PlanIndexTest, AnInstanceIsOneBlockWhosePartsDoNotOverlap) {
  const int x = Int(root_);
  builder_.Run(root_, {in_}, x);
  builder_.Return(root_, {x});
  const PlanIndex& index = Index();
  const wf_region& row = index.plan().regions[RegionOf(in_)];
  const RegionInfo& info = index.region(RegionOf(in_));
  EXPECT_GE(info.channels_at, sizeof(Instance));
  EXPECT_GE(info.spent_at, info.channels_at + row.n_slots * sizeof(Channel));
  EXPECT_GE(info.frame_at, info.spent_at);
  EXPECT_EQ(info.frame_at % 64, 0U);
  EXPECT_GE(info.instance_bytes, info.frame_at + row.frame_bytes);
  EXPECT_TRUE(std::find(info.starts.begin(), info.starts.end(), builder_.TaskOf(0)) != info.starts.end()) << "what waits for nothing";
}

}  // namespace
}  // namespace wf::bus
