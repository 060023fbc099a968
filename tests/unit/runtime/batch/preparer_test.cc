#include "runtime/batch/preparer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "runtime/batch/executor.h"
#include "tests/unit/support/fake_clock.h"
#include "tests/unit/support/pads.h"
#include "tests/unit/support/rows.h"

namespace wf::batch {
namespace {

// A model over i64[w] whose runs take a scripted time, and that knows what was made ready.
class TimedModel final : public Runnable {
 public:
  TimedModel(test::FakeClock& clock, int64_t width) : dim_{width}, clock_(clock) {
    port_.dim = dim_;
    port_.rank = 1;
    port_.dtype = WF_I64;
    row_.in = row_.out = &port_;
    row_.n_in = row_.n_out = 1;
    row_.batched = 1;
    row_.batch_axis = kAxes;
  }
  const wf_model& model() const override { return row_; }
  int64_t version() const override { return 1; }
  int64_t max_rows() const override { return 6; }
  int instance_count() const override { return 3; }
  base::Status Prepare(int instance, int64_t rows, std::span<const wf_tensor> inputs) override {
    EXPECT_EQ(inputs[0].dim[0], rows);
    if (when_prepared) WF_RETURN_IF_ERROR(when_prepared(rows));
    ++ready[{instance, inputs[0].dim[1], rows}];
    return {};
  }
  Rows rows(int64_t most) const override { return most <= unknown_above ? known : Rows::kUnknown; }
  void CheckRows(int instance, int64_t most, const std::atomic<bool>&) override {
    checked.push_back({instance, most});
    EXPECT_TRUE(ready.empty()) << "rows are checked first";
    known = found;
    unknown_above = most;
  }
  void Release(int instance) override { released.push_back(instance); }
  int64_t row_ns() const override { return measured_ns; }
  bool stays_on_thread() const override { return stays; }
  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                   const base::Wanted*) override {
    const auto* const x = static_cast<const int64_t*>(inputs[0].data);
    for (int64_t i = 0; i < rows * inputs[0].dim[1]; ++i) EXPECT_EQ(x[i], 0);
    EXPECT_TRUE(instance != 2 || ready.contains({instance, inputs[0].dim[1], rows}));
    clock_.AdvanceNs(NsOf(rows, inputs[0].dim[1]));
    ++runs;
    if (when_run) when_run();
    outputs[0] = inputs[0];
    return {};
  }
  static int64_t NsOf(int64_t rows, int64_t width) { return 1'000'000 + rows * width * 100'000; }

  std::map<std::tuple<int, int64_t, int64_t>, int> ready;  // instance, width, rows
  std::vector<int> released;
  int runs = 0;
  int64_t measured_ns = 0;
  bool stays = true;
  std::function<void()> when_run;
  std::function<base::Status(int64_t)> when_prepared;
  Rows known = Rows::kApart, found = Rows::kApart;
  int64_t unknown_above = INT64_MAX;  // what is known holds for runs of so many rows
  std::vector<std::pair<int, int64_t>> checked;

 private:
  static constexpr int8_t kAxes[] = {0, 0};
  int64_t dim_[1];
  test::FakeClock& clock_;
  wf_port port_{};
  wf_model row_{};
};

class PreparerTest : public ::testing::Test {
 protected:
  Batcher& Add(const Padding& padding = {}) {
    BatcherOptions options;
    options.model = &model_;
    options.policy.max_rows = 6;
    options.policy.padding = padding;
    options.instances = 2;
    options.measuring_instance = 2;
    return executor_.AddBatcher(options);
  }
  static void Finish(Preparer& preparer) {
    while (preparer.Step() == Preparer::Progress::kMade) continue;
  }
  void PrepareForOneRow() {
    BatcherOptions options;
    options.model = &model_;
    options.policy.max_rows = 1;
    options.measuring_instance = 2;
    executor_.AddBatcher(options);
    Preparer preparer(executor_, clock_);
    Finish(preparer);
  }

  test::FakeClock clock_;
  TimedModel model_{clock_, 4};
  Executor executor_{{.threads = 0}, clock_};
};

TEST_F(PreparerTest, EveryInstanceIsReadyForEverySizeAndEverySizeIsMeasured) {
  const Batcher& batcher = Add();
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  for (const int64_t rows : {1, 2, 4, 6}) {
    for (int instance = 0; instance < 3; ++instance) EXPECT_GE((model_.ready[{instance, 4, rows}]), 1) << instance << " " << rows;
    EXPECT_TRUE(batcher.cost().known(rows)) << rows;
    EXPECT_EQ(batcher.cost().RunNs(rows), TimedModel::NsOf(rows, 4)) << rows;
  }
  EXPECT_EQ(model_.ready.size(), 12U);
  EXPECT_EQ(model_.released, std::vector<int>{2});
  EXPECT_EQ(preparer.Step(), Preparer::Progress::kDone);
}

TEST_F(PreparerTest, ASizeIsRunOnceItsPlanIsThereSoThatNobodyWaitsForOne) {
  const Batcher& batcher = Add();
  EXPECT_EQ(batcher.cost().RowsToRun(6), 6) << "without one who makes it ready, the request does";
  Preparer preparer(executor_, clock_);
  EXPECT_EQ(batcher.cost().RowsToRun(6), 1);
  preparer.Step();
  EXPECT_EQ(batcher.cost().RowsToRun(6), 6);
  EXPECT_EQ(batcher.cost().RunSizeFor(2), 6);
  model_.when_run = [&] { EXPECT_EQ(batcher.cost().unready(), 0) << "none waits for what is measured"; };
  Finish(preparer);
  EXPECT_EQ(batcher.cost().RunSizeFor(2), 2);
  EXPECT_GT(model_.runs, 0);
}

TEST_F(PreparerTest, ASizeThatCannotBeMadeReadyIsLeftToTheRequests) {
  model_.when_prepared = [](int64_t rows) { return rows == 6 ? base::Status(base::kResourceExhausted, "too large") : base::Status::Ok(); };
  const Batcher& batcher = Add();
  Preparer preparer(executor_, clock_);
  preparer.Step();
  EXPECT_EQ(batcher.cost().RowsToRun(6), 6);
  Finish(preparer);
}

TEST_F(PreparerTest, BucketsOfAPaddedAxisAreShapesOfTheirOwn) {
  TimedModel open(clock_, -1);
  const test::Pads pads({4, 8}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, 0}});
  BatcherOptions options;
  options.model = &open;
  options.policy.max_rows = 2;
  options.policy.padding = pads.padding();
  options.measuring_instance = 1;
  const Batcher& batcher = executor_.AddBatcher(options);
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  for (size_t kind = 0; kind < 2; ++kind)
    for (const int64_t rows : {1, 2}) EXPECT_EQ(batcher.cost(kind).RunNs(rows), TimedModel::NsOf(rows, kind == 0 ? 4 : 8));
}

TEST_F(PreparerTest, AnOpenShapeIsLeftToTheRequests) {
  TimedModel open(clock_, -1);
  BatcherOptions options;
  options.model = &open;
  options.measuring_instance = 1;
  executor_.AddBatcher(options);
  Preparer preparer(executor_, clock_);
  EXPECT_EQ(preparer.Step(), Preparer::Progress::kDone);
  EXPECT_TRUE(open.ready.empty());
}

TEST_F(PreparerTest, AnInstanceThatRunsIsLeftAloneUntilItIsIdle) {
  Batcher& batcher = Add();
  class Silent final : public base::Waker {
    void Wake() noexcept override {}
  } silent;
  base::Mailbox mailbox(silent);
  test::TestRow row({0, 0, 0, 0});
  row.home = &mailbox;
  ASSERT_TRUE(batcher.Reserve(row) && batcher.Submit(row));
  auto work = executor_.Take();
  ASSERT_TRUE(work.has_value());
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  EXPECT_EQ(preparer.Step(), Preparer::Progress::kBusy);
  for (const auto& [key, times] : model_.ready) EXPECT_NE(std::get<0>(key), work->instance);
  executor_.Run(*work);
  executor_.Finish(*work);
  Finish(preparer);
  EXPECT_EQ(preparer.Step(), Preparer::Progress::kDone);
  EXPECT_EQ(model_.ready.size(), 12U);
  mailbox.Drain();
}

// A machine on which others have the CPU three quarters of the time.
class BusyClock final : public test::FakeClock {
 public:
  int64_t WorkedNs() const override { return Now() / 4; }
};

TEST(Preparer, MeasuresWhatItsThreadWorksUnlessTheModelHasOthers) {
  for (const bool stays : {true, false}) {
    BusyClock clock;
    TimedModel model(clock, 4);
    model.stays = stays;
    Executor executor({.threads = 0}, clock);
    BatcherOptions options;
    options.model = &model;
    options.policy.max_rows = 6;
    options.measuring_instance = 2;
    const Batcher& batcher = executor.AddBatcher(options);
    Preparer preparer(executor, clock);
    while (preparer.Step() == Preparer::Progress::kMade) continue;
    for (const int64_t rows : {1, 2, 4, 6}) EXPECT_EQ(batcher.cost().RunNs(rows), TimedModel::NsOf(rows, 4) / (stays ? 4 : 1)) << rows;
  }
}

TEST_F(PreparerTest, NoFurtherRunBeginsOnceItIsToStop) {
  const Batcher& batcher = Add();
  Preparer preparer(executor_, clock_);
  model_.when_run = [&] { preparer.Stop(); };
  while (model_.runs == 0) ASSERT_EQ(preparer.Step(), Preparer::Progress::kMade);
  EXPECT_EQ(model_.runs, 1);
  EXPECT_FALSE(batcher.cost().known(6)) << "the first run is not counted";
}

TEST_F(PreparerTest, ADrainStopsIt) {
  Add();
  std::atomic<int> runs = 0;
  model_.when_run = [&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  executor_.StartPreparing();
  while (runs == 0) std::this_thread::yield();
  executor_.BeginDrain();
  const int before = runs;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(runs, before + 1) << "the one that was under way";
}

TEST_F(PreparerTest, WhoStopsItNeedNotWaitForTheRunUnderWay) {
  Add();
  std::atomic<bool> runs = false, may_end = false;
  model_.when_run = [&] {
    runs = true;
    while (!may_end) std::this_thread::yield();
  };
  executor_.StartPreparing();
  while (!runs) std::this_thread::yield();
  EXPECT_FALSE(executor_.StopPreparing(clock_.Now()));
  may_end = true;
  EXPECT_TRUE(executor_.StopPreparing(INT64_MAX));
}

TEST_F(PreparerTest, WhatTheLoadHasMeasuredIsKnownFromTheStart) {
  model_.measured_ns = 20'000;
  const Batcher& batcher = Add();
  EXPECT_EQ(batcher.cost().RunNs(1), 20'000);
  EXPECT_TRUE(batcher.inline_pays());
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  EXPECT_EQ(batcher.cost().RunNs(1), 20'000);
  EXPECT_EQ(batcher.cost().RunNs(2), TimedModel::NsOf(2, 4));
  EXPECT_EQ((model_.ready[{0, 4, 1}]), 1);
}

TEST_F(PreparerTest, WhereNothingIsLeftToMeasureItsInstanceIsReleasedNonetheless) {
  model_.measured_ns = 20'000;
  PrepareForOneRow();
  EXPECT_EQ(model_.runs, 0);
  EXPECT_EQ(model_.released, std::vector<int>{2});
}

TEST_F(PreparerTest, WhatRequestsHaveTaughtIsNotOverwritten) {
  Batcher& batcher = Add();
  batcher.cost().Learn(1, 77);
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  EXPECT_EQ(batcher.cost().RunNs(1), 77);
}

TEST_F(PreparerTest, WhatIsAddedLaterIsMadeReadyButMeasuredOnlyWhereNothingIsKnown) {
  Batcher& first = Add();
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  BatcherOptions options = first.options();
  options.policy.max_rows = 3;
  Batcher& second = executor_.AddBatcher(options);
  second.LearnFrom(first);
  EXPECT_EQ(second.cost().RunNs(2), TimedModel::NsOf(2, 4));
  EXPECT_FALSE(second.cost().known(3));
  model_.ready.clear();
  preparer.Add(second);
  Finish(preparer);
  EXPECT_EQ(second.cost().RunNs(3), TimedModel::NsOf(3, 4));
  EXPECT_EQ(model_.ready.size(), 7U);  // three sizes of two instances, and one size of that for measurements
  EXPECT_FALSE(model_.ready.contains({2, 4, 1}));
}

TEST_F(PreparerTest, WhatIsForgottenIsNotMadeReady) {
  Batcher& batcher = Add();
  Preparer preparer(executor_, clock_);
  ASSERT_EQ(preparer.Step(), Preparer::Progress::kMade);
  EXPECT_TRUE(preparer.Forget(batcher));
  EXPECT_EQ(preparer.Step(), Preparer::Progress::kDone);
  EXPECT_EQ(model_.ready.size(), 1U);
}

// Sends rows of one call each, and takes a batch.
class Calls {
 public:
  explicit Calls(Executor& executor) : executor_(executor) {}
  int RowsOfARun(Batcher& batcher, int rows) {
    std::deque<test::TestRow> sent;
    for (int i = 0; i < rows; ++i) {
      sent.emplace_back(std::vector<int64_t>(4, 0));
      sent.back().home = &mailbox_;
      EXPECT_TRUE(batcher.Reserve(sent.back()) && batcher.Submit(sent.back()));
    }
    int most = 0;
    while (auto work = executor_.Take()) {
      most = std::max(most, work->closed.rows.count);
      executor_.Run(*work);
      executor_.Finish(*work);
    }
    mailbox_.Drain();
    for (const test::TestRow& row : sent) EXPECT_EQ(row.delivered, 1);
    return most;
  }

 private:
  class Silent final : public base::Waker {
    void Wake() noexcept override {}
  } silent_;
  base::Mailbox mailbox_{silent_};
  Executor& executor_;
};

TEST_F(PreparerTest, RowsShareARunOnceTheyAreKnownToBeComputedApart) {
  model_.unknown_above = 1;
  Batcher& batcher = Add();
  Batcher& other = Add();
  Calls calls(executor_);
  EXPECT_EQ(calls.RowsOfARun(batcher, 6), 1);
  Preparer preparer(executor_, clock_);
  ASSERT_EQ(preparer.Step(), Preparer::Progress::kMade);
  ASSERT_EQ(preparer.Step(), Preparer::Progress::kMade);
  EXPECT_EQ(model_.checked.front(), (std::pair<int, int64_t>(2, 6)));
  EXPECT_TRUE(model_.ready.empty());
  Finish(preparer);
  EXPECT_GT(calls.RowsOfARun(batcher, 6), 1);
  EXPECT_GT(calls.RowsOfARun(other, 6), 1);
  EXPECT_EQ(model_.released, (std::vector<int>{2, 2})) << "once for each of the two";
}

TEST_F(PreparerTest, RowsThatDependOnOneAnotherNeverShareARun) {
  model_.unknown_above = 1;
  model_.found = Rows::kMixed;
  Batcher& batcher = Add();
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  Calls calls(executor_);
  EXPECT_EQ(calls.RowsOfARun(batcher, 6), 1);
  EXPECT_EQ(batcher.cost().BestRows(), 1);
  Batcher& later = Add();  // knows it from the start
  preparer.Add(later);
  EXPECT_EQ(calls.RowsOfARun(later, 6), 1);
  Finish(preparer);
  EXPECT_EQ(model_.checked.size(), 1U);
}

TEST_F(PreparerTest, RowsOfOpenShapesAreCheckedToo) {
  TimedModel open(clock_, -1);
  open.unknown_above = 1;
  BatcherOptions options;
  options.model = &open;
  options.policy.max_rows = 6;
  options.measuring_instance = 2;
  Batcher& batcher = executor_.AddBatcher(options);
  Calls calls(executor_);
  EXPECT_EQ(calls.RowsOfARun(batcher, 4), 1);
  Preparer preparer(executor_, clock_);
  Finish(preparer);
  EXPECT_EQ(open.checked.size(), 1U);
  EXPECT_EQ(open.released, std::vector<int>{2});
  EXPECT_GT(calls.RowsOfARun(batcher, 4), 1);
}

TEST_F(PreparerTest, RunsOfOneRowNeedNoCheck) {
  model_.unknown_above = 0;
  PrepareForOneRow();
  EXPECT_TRUE(model_.checked.empty());
}

TEST_F(PreparerTest, TheThreadEndsWithTheExecutorWhateverIsLeft) {
  Add();
  executor_.StartPreparing();
}

}  // namespace
}  // namespace wf::batch
