#include "runtime/batch/policy.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "tests/unit/support/fake_clock.h"
#include "tests/unit/support/pads.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rows.h"

namespace wf::batch {
namespace {

constexpr int64_t kMs = 1'000'000;

std::deque<CostCurve> Curves(int kinds) {
  std::deque<CostCurve> curves;
  while (kinds-- > 0) curves.emplace_back(4);
  return curves;
}

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
  static void Enter(Policy& policy, batch::Row& row) {
    policy.Prepare(row);
    policy.Add(row);
  }
  test::TestRow& Submit(int64_t delay_ns = 0, size_t width = 1) {
    test::TestRow& row = Add(delay_ns, width);
    Enter(policy_, row);
    return row;
  }

  wf_model model_{};
  test::FakeClock clock_;
  std::deque<CostCurve> costs_ = Curves(1);
  std::deque<test::TestRow> rows_;
  const Sorts sorts_{{}, model_, false};
  Policy policy_{{.max_rows = 4, .max_queued_rows = 8}, sorts_, model_, costs_, clock_};
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
    Enter(policy_, rows_.back());
  }
  EXPECT_EQ(policy_.Close()->rows.count, 2);
  EXPECT_EQ(policy_.Close()->rows.count, 2);
}

// What a text consists of counts, not where it lies.
TEST_F(PolicyTest, OnlyEqualStringsOfAnInputWithoutBatchAxisShareABatch) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  std::deque<std::string> texts;
  std::deque<wf_bytes> elements;
  for (int i = 0; i < 4; ++i) {
    const std::string& text = texts.emplace_back(i % 2 == 0 ? "north" : "south");
    elements.push_back({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    wf_tensor& x = rows_.emplace_back(std::vector<int64_t>{0}).x();
    x.data = &elements.back();
    x.dtype = WF_TEXTS;
    Enter(policy_, rows_.back());
  }
  for (const int first : {0, 1}) {
    const auto closed = policy_.Close();
    ASSERT_EQ(closed->rows.count, 2);
    EXPECT_EQ(closed->rows.first, &rows_[static_cast<size_t>(first)]);
    EXPECT_EQ(closed->rows.last, &rows_[static_cast<size_t>(first + 2)]);
  }
}

// The mutex is held while rows are added, so what would be compared byte by byte is not.
TEST_F(PolicyTest, GroupsAreFoundByTheKeysOfTheirRowsWhateverOrderTheyCloseIn) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  constexpr int64_t kGroups = 40;  // more than there are at first
  for (int round = 0; round < 3; ++round) {
    std::vector<test::TestRow*> first;
    for (int64_t value = 0; value < 3 * kGroups; ++value) {
      rows_.emplace_back(std::vector<int64_t>{0, value % kGroups});
      rows_.back().delay_ns = kMs;
      Enter(policy_, rows_.back());
      if (value < kGroups) first.push_back(&rows_.back());
    }
    for (int64_t i = round; i < kGroups; i += 3) policy_.Withdraw(*first[static_cast<size_t>(i)]);
    clock_.AdvanceNs(kMs);
    int batches = 0;
    for (; const auto closed = policy_.Close(); ++batches) {
      const int64_t value =
          closed->rows.first->inputs[0]->rank == 1 ? static_cast<const int64_t*>(closed->rows.first->inputs[0]->data)[1] : -1;
      EXPECT_EQ(closed->rows.count, value % 3 == round % 3 ? 2 : 3) << value;
      for (const batch::Row* row = closed->rows.first; row != nullptr; row = row->next)
        EXPECT_EQ(static_cast<const int64_t*>(row->inputs[0]->data)[1], value);
    }
    EXPECT_EQ(batches, kGroups);
    EXPECT_EQ(policy_.waiting(), 0);
    EXPECT_EQ(policy_.DueHead(), nullptr);
  }
}

TEST_F(PolicyTest, BytesOfRowsWhoseKeysDifferAreNotLookedAt) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  for (int64_t value = 0; value < 3; ++value) {
    rows_.emplace_back(std::vector<int64_t>{value});
    policy_.Prepare(rows_.back());
    rows_.back().x().data = nullptr;
    policy_.Add(rows_.back());
  }
  EXPECT_EQ(policy_.Close()->rows.count, 1);
}

TEST_F(PolicyTest, WhatRowsOfARequestShareIsReadOnce) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  constexpr uint64_t kBytes = 1000 * sizeof(int64_t);
  SharedHashes hashes;
  for (int i = 0; i < 3; ++i) {
    rows_.emplace_back(std::vector<int64_t>(1000, 5));
    rows_.back().x().data = rows_.front().x().data;
    rows_.back().hashes = &hashes;
    Enter(policy_, rows_.back());
  }
  EXPECT_EQ(hashes.read_bytes, kBytes);
  Enter(policy_, rows_.emplace_back(std::vector<int64_t>(1000, 5)));  // of another request
  EXPECT_EQ(policy_.Close()->rows.count, 4);
  rows_.emplace_back(std::vector<int64_t>(1000, 6)).hashes = &hashes;
  Enter(policy_, rows_.back());
  EXPECT_EQ(hashes.read_bytes, 2 * kBytes);
}

TEST_F(PolicyTest, RowsWhoseKeysAreEqualByChanceShareNothing) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  for (int64_t value = 0; value < 6; ++value) {
    rows_.emplace_back(std::vector<int64_t>{value / 2});
    policy_.Prepare(rows_.back());
    rows_.back().key = 7;
    policy_.Add(rows_.back());
  }
  int batches = 0, rows = 0;
  for (; const auto closed = policy_.Close(); ++batches) {
    rows += closed->rows.count;
    const auto value = [](const batch::Row* row) { return *static_cast<const int64_t*>(row->inputs[0]->data); };
    EXPECT_EQ(value(closed->rows.first), value(closed->rows.last));
  }
  EXPECT_EQ(batches, 5) << "two, and four alone";
  EXPECT_EQ(rows, 6);
}

TEST_F(PolicyTest, TheEarlierDeadlineGoesFirstInsideAPriority) {
  test::TestRow& late = Add();
  late.deadline = clock_.Now() + 50 * kMs;
  test::TestRow& soon = Add();
  soon.deadline = clock_.Now() + 20 * kMs;
  test::TestRow& high = Add();
  high.priority = WF_HIGH;
  for (test::TestRow& row : rows_) Enter(policy_, row);
  const auto closed = policy_.Close();
  EXPECT_EQ(closed->rows.first, &high);
  EXPECT_EQ(closed->rows.first->next, &soon);
  EXPECT_EQ(closed->rows.last, &late);
}

TEST_F(PolicyTest, ARowRisesOnePriorityPerHundredMilliseconds) {
  test::TestRow& old = Add();
  old.priority = WF_LOW;
  Enter(policy_, old);
  EXPECT_EQ(policy_.DueHead()->level, WF_LOW);
  clock_.AdvanceNs(200 * kMs);
  test::TestRow& fresh = Submit();
  fresh.deadline = clock_.Now() + 500 * kMs;
  EXPECT_EQ(policy_.Close()->rows.first, &old);
}

TEST_F(PolicyTest, ARowPastItsDeadlineIsHandedBackNotRun) {
  test::TestRow& late = Add(10 * kMs);
  late.deadline = clock_.Now() + kMs;
  Enter(policy_, late);
  Submit(10 * kMs);
  clock_.AdvanceNs(2 * kMs);
  const auto closed = policy_.Close();
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(closed->expired.first, &late);
  EXPECT_EQ(closed->expired.count, 1);
  EXPECT_EQ(closed->rows.count, 0) << "the other may wait on";
  EXPECT_FALSE(policy_.Close().has_value());
  clock_.AdvanceNs(8 * kMs);
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDelay);
}

TEST_F(PolicyTest, ADeadlineClosesABatchBeforeTheDelayDoes) {
  costs_[0].Learn(4, kMs);
  test::TestRow& row = Add(50 * kMs);
  row.deadline = clock_.Now() + 10 * kMs;
  Enter(policy_, row);
  EXPECT_EQ(policy_.NextDecisionAt(), clock_.Now() + 8 * kMs);
  clock_.AdvanceNs(8 * kMs);
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDeadline);
}

TEST_F(PolicyTest, ABatchThatClosesForTheOldestRowsDelaySaysSo) {
  test::TestRow& oldest = Add(2 * kMs);
  oldest.deadline = clock_.Now() + 30'000 * kMs;
  Enter(policy_, oldest);
  clock_.AdvanceNs(kMs);
  test::TestRow& urgent = Add(2 * kMs);  // heads the batch
  urgent.deadline = clock_.Now() + 20'000 * kMs;
  Enter(policy_, urgent);
  clock_.AdvanceNs(kMs);
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDelay);
}

TEST_F(PolicyTest, DrainingWaitsForNobody) {
  Submit(10 * kMs);
  EXPECT_FALSE(policy_.Close().has_value());
  policy_.Drain();
  EXPECT_LE(*policy_.NextDecisionAt(), clock_.Now());
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDrain);
  EXPECT_FALSE(policy_.NextDecisionAt().has_value());
  Submit(10 * kMs);
  EXPECT_EQ(policy_.Close()->reason, CloseReason::kDrain) << "one that comes later";
}

class PaddedPolicyTest : public PolicyTest {
 protected:
  test::Pads pads_{{4, 8}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, 0}}};
  std::deque<CostCurve> by_bucket_ = Curves(2);
  const Sorts buckets_{pads_.padding(), model_, false};
  Policy padded_{{.max_rows = 4, .max_queued_rows = 8, .padding = pads_.padding()}, buckets_, model_, by_bucket_, clock_};
};

TEST_F(PaddedPolicyTest, WidthsOfOneBucketShareABatch) {
  for (const size_t width : {3, 5, 4, 8, 1, 6}) Enter(padded_, Add(0, width));
  const auto first = padded_.Close(), second = padded_.Close();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->rows.count, 3);
  EXPECT_EQ(second->rows.count, 3);
  EXPECT_EQ(padded_.waiting(), 0);
}

TEST_F(PaddedPolicyTest, ALongerRowRunsAloneAndAtOnce) {
  Enter(padded_, Add(10 * kMs, 9));
  Enter(padded_, Add(10 * kMs, 9));
  Enter(padded_, Add(10 * kMs, 3));
  EXPECT_EQ(padded_.NextDecisionAt(), INT64_MIN);
  for (int i = 0; i < 2; ++i) {
    const auto closed = padded_.Close();
    ASSERT_TRUE(closed.has_value());
    EXPECT_EQ(closed->rows.count, 1);
    EXPECT_EQ(closed->rows.first->inputs[0]->dim[0], 9);
  }
  EXPECT_FALSE(padded_.Close().has_value());  // the short one waits for company
}

TEST_F(PaddedPolicyTest, EachBucketHasABestSizeOfItsOwn) {
  for (const int64_t size : {1, 2, 4}) by_bucket_[0].Learn(size, kMs);         // the rows of a batch are free
  for (const int64_t size : {1, 2, 4}) by_bucket_[1].Learn(size, size * kMs);  // and gain nothing
  for (int i = 0; i < 4; ++i) Enter(padded_, Add(10 * kMs, i % 2 == 0 ? 3 : 7));
  EXPECT_EQ(padded_.Close()->rows.first->inputs[0]->dim[0], 7);
  EXPECT_EQ(padded_.Close()->rows.count, 1);
  EXPECT_FALSE(padded_.Close().has_value());
}

TEST_F(PaddedPolicyTest, AnInputWithoutBatchAxisIsSharedOnlyAtItsOwnLength) {
  static const int8_t axes[] = {-1, 0};
  model_.batch_axis = axes;
  Enter(padded_, Add(0, 3));
  Enter(padded_, Add(0, 2));
  Enter(padded_, Add(0, 3));
  EXPECT_EQ(padded_.Close()->rows.count + padded_.Close()->rows.count, 3);
  EXPECT_FALSE(padded_.Close().has_value());
}

}  // namespace
}  // namespace wf::batch
