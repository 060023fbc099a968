#include "runtime/batch/policy.h"

#include <gtest/gtest.h>

#include <deque>

#include "tests/unit/support/fake_clock.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rows.h"

namespace wf::batch {
namespace {

constexpr int64_t kMs = 1'000'000;

class PolicyTest : public ::testing::Test {
 protected:
  PolicyTest() {
    static const int8_t axes[] = {0, 0};
    model_.n_in = model_.n_out = 1;
    model_.batched = 1;
    model_.batch_axis = axes;
  }
  test::TestRow& Add(int64_t delay_ns = 0, size_t width = 1) {
    rows_.emplace_back(std::vector<int64_t>(width, 1));
    rows_.back().arrived_at = clock_.Now();
    rows_.back().delay_ns = delay_ns;
    return rows_.back();
  }
  test::TestRow& Submit(int64_t delay_ns = 0, size_t width = 1) {
    test::TestRow& row = Add(delay_ns, width);
    policy_.Add(row);
    return row;
  }

  wf_model model_{};
  test::FakeClock clock_;
  CostCurve cost_{4};
  std::deque<test::TestRow> rows_;
  Policy policy_{{.max_rows = 4, .max_queued_rows = 8}, model_, cost_, clock_};
};

TEST_F(PolicyTest, ClosesAsSoonAsFull) {
  for (int i = 0; i < 5; ++i) Submit(10 * kMs);
  const auto closed = policy_.Close();
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->reason, CloseReason::kFull);
  EXPECT_EQ(closed->rows.count, 4);
  EXPECT_EQ(policy_.waiting(), 1);
}

TEST_F(PolicyTest, ARowWithoutADelayNeverWaits) {
  Submit();
  const auto closed = policy_.Close();
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->reason, CloseReason::kIdle);
}

TEST_F(PolicyTest, HoldsARowNoLongerThanItsDelay) {
  Submit(kMs);
  EXPECT_FALSE(policy_.Close().has_value());
  EXPECT_EQ(policy_.NextDecisionAt(), clock_.Now() + kMs);
  clock_.AdvanceNs(kMs);
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDelay);
  EXPECT_FALSE(policy_.NextDecisionAt().has_value());
}

TEST_F(PolicyTest, TheLeastPatientRowDecides) {
  Submit(10 * kMs);
  Submit(2 * kMs);
  EXPECT_EQ(policy_.NextDecisionAt(), clock_.Now() + 2 * kMs);
  clock_.AdvanceNs(2 * kMs);
  EXPECT_EQ(policy_.Close()->rows.count, 2);
}

TEST_F(PolicyTest, AWithdrawnRowNeverRunsNorHurriesOthers) {
  test::TestRow& patient = Submit(10 * kMs);
  test::TestRow& hurried = Submit(kMs);
  policy_.Withdraw(hurried);
  EXPECT_EQ(policy_.NextDecisionAt(), patient.arrived_at + 10 * kMs);
  policy_.Withdraw(patient);
  clock_.AdvanceNs(20 * kMs);
  EXPECT_FALSE(policy_.Close().has_value());
}

TEST_F(PolicyTest, OnlyEqualShapesShareABatch) {
  for (int i = 0; i < 6; ++i) Submit(0, i % 2 == 0 ? 3 : 5);
  const auto first = policy_.Close(), second = policy_.Close();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->rows.count, 3);
  EXPECT_EQ(second->rows.count, 3);
  EXPECT_NE(first->rows.first->inputs[0]->dim[0], second->rows.first->inputs[0]->dim[0]);
}

TEST_F(PolicyTest, OnlyEqualBytesOfAnInputWithoutBatchAxisShareABatch) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  for (int64_t value = 0; value < 4; ++value) {
    rows_.emplace_back(std::vector<int64_t>{value / 2});
    policy_.Add(rows_.back());
  }
  EXPECT_EQ(policy_.Close()->rows.count, 2);
  EXPECT_EQ(policy_.Close()->rows.count, 2);
}

TEST_F(PolicyTest, TheEarlierDeadlineGoesFirstInsideAPriority) {
  test::TestRow& late = Add();
  late.deadline = clock_.Now() + 50 * kMs;
  test::TestRow& soon = Add();
  soon.deadline = clock_.Now() + 20 * kMs;
  test::TestRow& high = Add();
  high.priority = WF_HIGH;
  for (test::TestRow& row : rows_) policy_.Add(row);
  const auto closed = policy_.Close();
  EXPECT_EQ(closed->rows.first, &high);
  EXPECT_EQ(closed->rows.first->next, &soon);
  EXPECT_EQ(closed->rows.last, &late);
}

TEST_F(PolicyTest, ARowRisesOnePriorityPerHundredMilliseconds) {
  test::TestRow& old = Add();
  old.priority = WF_LOW;
  policy_.Add(old);
  EXPECT_EQ(policy_.level(), WF_LOW);
  clock_.AdvanceNs(200 * kMs);
  test::TestRow& fresh = Submit();
  fresh.deadline = clock_.Now() + 500 * kMs;
  EXPECT_EQ(policy_.Close()->rows.first, &old);
}

TEST_F(PolicyTest, ARowPastItsDeadlineIsHandedBackNotRun) {
  test::TestRow& late = Add(10 * kMs);
  late.deadline = clock_.Now() + kMs;
  policy_.Add(late);
  Submit(10 * kMs);
  clock_.AdvanceNs(2 * kMs);
  const auto closed = policy_.Close();
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->expired.first, &late);
  EXPECT_EQ(closed->expired.count, 1);
}

TEST_F(PolicyTest, ADeadlineClosesABatchBeforeTheDelayDoes) {
  cost_.Learn(4, kMs);
  test::TestRow& row = Add(50 * kMs);
  row.deadline = clock_.Now() + 10 * kMs;
  policy_.Add(row);
  EXPECT_EQ(policy_.NextDecisionAt(), clock_.Now() + 8 * kMs);
  clock_.AdvanceNs(8 * kMs);
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDeadline);
}

TEST_F(PolicyTest, DrainingWaitsForNobody) {
  Submit(10 * kMs);
  EXPECT_EQ(policy_.Close(/*draining=*/true)->reason, CloseReason::kDrain);
}

}  // namespace
}  // namespace wf::batch
