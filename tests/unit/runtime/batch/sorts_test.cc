#include "runtime/batch/sorts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "runtime/batch/executor.h"
#include "tests/unit/support/fake_clock.h"
#include "tests/unit/support/pads.h"
#include "tests/unit/support/rows.h"

namespace wf::batch {
namespace {

constexpr int8_t kRowsFirst[] = {0, 0};

// A model over i64[w], w open, whose runs take as long as attention over w elements would, and twice that where they leave the caches.
class OpenModel final : public Runnable {
 public:
  explicit OpenModel(test::FakeClock& clock) : clock_(clock) {
    port_.dim = kOpen;
    port_.rank = 1;
    port_.dtype = WF_I64;
    row_.in = row_.out = &port_;
    row_.n_in = row_.n_out = 1;
    row_.batched = 1;
    row_.batch_axis = kRowsFirst;
  }
  const wf_model& model() const override { return row_; }
  int64_t version() const override { return 1; }
  int64_t max_rows() const override { return 16; }
  int instance_count() const override { return 1; }
  bool has_open_extents() const override { return true; }
  base::Status Run(int, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs, const base::Wanted*) override {
    clock_.AdvanceNs(NsOf(rows, inputs[0].dim[1]));
    run_rows.push_back(rows);
    outputs[0] = inputs[0];
    return {};
  }
  static int64_t NsOf(int64_t rows, int64_t width) { return 10'000 + rows * width * width * (rows * width > 8000 ? 32 : 16); }

  std::vector<int64_t> run_rows;

 private:
  static constexpr int64_t kOpen[] = {-1};
  test::FakeClock& clock_;
  wf_port port_{};
  wf_model row_{};
};

class SizesTest : public ::testing::Test {
 protected:
  SizesTest() {
    BatcherOptions options;
    options.model = &model_;
    options.policy.max_rows = 16;
    batcher_ = &executor_.AddBatcher(options);
  }
  test::TestRow& Submit(size_t width) {
    test::TestRow& row = rows_.emplace_back(std::vector<int64_t>(width, 0));
    row.home = &mailbox_;
    EXPECT_TRUE(batcher_->Reserve(row) && batcher_->Submit(row));
    return row;
  }
  // Of a burst, the rows of each run.
  std::vector<int64_t> RunsOf(size_t width, int rows) {
    model_.run_rows.clear();
    for (int i = 0; i < rows; ++i) Submit(width);
    while (auto work = executor_.Take()) {
      executor_.Run(*work);
      executor_.Finish(*work);
    }
    mailbox_.Drain();
    rows_.clear();
    return model_.run_rows;
  }
  int64_t WaitNs() const { return batcher_->OutlookOf(WF_NORMAL, INT64_MAX).wait_ns; }

  class Silent final : public base::Waker {
    void Wake() noexcept override {}
  } silent_;
  base::Mailbox mailbox_{silent_};
  test::FakeClock clock_;
  OpenModel model_{clock_};
  std::deque<test::TestRow> rows_;
  Executor executor_{{.threads = 0}, clock_};
  Batcher* batcher_ = nullptr;
};

TEST_F(SizesTest, WhatIsLearnedOfSmallInputsIsNotBelievedOfLargeOnes) {
  for (int i = 0; i < 8; ++i) RunsOf(1, 16);
  EXPECT_EQ(RunsOf(1, 16), std::vector<int64_t>{16});
  EXPECT_EQ(RunsOf(2500, 16)[0], 1);
  for (int i = 0; i < 8; ++i) RunsOf(2500, 16);
  const std::vector<int64_t> large = RunsOf(2500, 16);
  EXPECT_LE(*std::max_element(large.begin(), large.end()), 2) << "beyond that a row takes twice as long";
  EXPECT_EQ(RunsOf(1, 16), std::vector<int64_t>{16});
}

TEST_F(SizesTest, LargerRunsOfANewSizeAreTriedOneByOne) {
  const std::vector<int64_t> runs = RunsOf(4000, 64);
  for (size_t i = 1; i < runs.size(); ++i) EXPECT_LE(runs[i], 2 * *std::max_element(runs.begin(), runs.begin() + static_cast<int64_t>(i)));
  EXPECT_EQ(runs[0], 1);
  EXPECT_LE(*std::max_element(runs.begin(), runs.end()), 4) << "longer ones were not worth trying";
}

TEST_F(SizesTest, TheRecentCostIsThatOfTheRowsThatRanLast) {
  for (int i = 0; i < 4; ++i) RunsOf(1, 1);
  EXPECT_EQ(batcher_->recent_cost().RunNs(1), OpenModel::NsOf(1, 1));
  for (int i = 0; i < 4; ++i) RunsOf(1000, 1);
  EXPECT_EQ(batcher_->recent_cost().RunNs(1), OpenModel::NsOf(1, 1000));
}

TEST_F(SizesTest, OthersWaitByTheCheapestSizeThatHasCome) {
  for (int i = 0; i < 4; ++i) RunsOf(1000, 1);
  Submit(1000);
  EXPECT_GT(WaitNs(), 0);
  Submit(1);
  EXPECT_EQ(WaitNs(), 0) << "nobody has measured it, and it may be cheaper";
  for (int i = 0; i < 4; ++i) RunsOf(1, 1);
  Submit(1);
  const int64_t small_ns = WaitNs();
  EXPECT_GT(small_ns, 0);
  Submit(1'000'000);
  EXPECT_GE(WaitNs(), small_ns) << "nobody has measured it, but it is no cheaper";
  RunsOf(1, 1);
}

TEST(SortsTest, EachPowerOfTwoOfElementsIsASortWhereExtentsAreOpen) {
  wf_model model{};
  model.n_in = 1;
  model.batch_axis = kRowsFirst;
  const Sorts fixed({}, model, false), open({}, model, true);
  EXPECT_EQ(fixed.count(), 1U);
  EXPECT_EQ(fixed.elements(0), 0);
  const auto sort_of = [](const Sorts& sorts, int64_t extent) {
    wf_tensor x{};
    x.rank = 2;
    x.dim[0] = extent;
    x.dim[1] = 8;
    const wf_tensor* inputs[] = {&x};
    return sorts.Of(0, inputs);
  };
  for (const int64_t extent : {0, 1, 1000}) EXPECT_EQ(sort_of(fixed, extent), 0U);
  EXPECT_EQ(sort_of(open, 0), 0U);
  EXPECT_EQ(open.elements(sort_of(open, 1)), 8);
  EXPECT_EQ(open.elements(sort_of(open, 2500)), 16384);
  EXPECT_EQ(sort_of(open, 2048), sort_of(open, 4095));
  EXPECT_LT(sort_of(open, INT64_MAX), open.count());
}

TEST(SortsTest, RowsThatPaddingMakesEqualAreOfOneSort) {
  wf_model model{};
  model.n_in = 1;
  model.batch_axis = kRowsFirst;
  const test::Pads pads({4, 64}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, 0}});
  const Sorts sorts(pads.padding(), model, true);
  const auto sort_of = [&](int64_t padded, int64_t open) {
    wf_tensor x{};
    x.rank = 2;
    x.dim[0] = padded;
    x.dim[1] = open;
    const wf_tensor* inputs[] = {&x};
    return sorts.Of(pads.padding().KindOf(inputs), inputs);
  };
  EXPECT_EQ(sort_of(1, 8), sort_of(4, 8));
  EXPECT_EQ(sorts.elements(sort_of(1, 8)), 32);
  EXPECT_NE(sort_of(1, 8), sort_of(1, 80));
  EXPECT_EQ(sorts.kind(sort_of(5, 1)), 1U);
  EXPECT_EQ(sort_of(65, 1), sorts.count());
}

}  // namespace
}  // namespace wf::batch
