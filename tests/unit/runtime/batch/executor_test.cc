#include "runtime/batch/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "runtime/base/clock.h"
#include "tests/unit/support/fake_clock.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"
#include "tests/unit/support/rows.h"

namespace wf::batch {
namespace {

// A mailbox whose owner sleeps on a condition.
class Sleeper final : public base::Waker {
 public:
  void Wake() noexcept override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    condition_.notify_one();
  }
  void Sleep() {
    std::unique_lock lock(mutex_);
    condition_.wait_for(lock, std::chrono::seconds(10), [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// y = -x, by several instances at once. A run that holds a row of -1 fails, one of -2 is larger than may be, one of -3 finds no memory. A
// row takes 8 bytes.
class Negation final : public Runnable {
 public:
  Negation(const wf_model& row, size_t instances) : row_(row), memory_(instances) {}
  const wf_model& model() const override { return row_; }
  int64_t version() const override { return 1; }
  int64_t max_rows() const override { return 16; }
  int instance_count() const override { return static_cast<int>(memory_.size()); }
  base::Status CheckSize(int, int64_t rows, std::span<const wf_tensor>, int64_t most_bytes) override {
    return most_bytes >= 8 * rows ? base::Status() : base::Status(base::kOutOfRange, "too large");
  }
  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                   const base::Wanted*) override {
    std::vector<int64_t>& result = memory_[static_cast<size_t>(instance)];
    const auto* const x = static_cast<const int64_t*>(inputs[0].data);
    result.assign(x, x + rows);
    if (std::find(x, x + rows, -1) != x + rows) return base::Status(base::kInvalidArgument, "-1 is refused");
    if (std::find(x, x + rows, -2) != x + rows) return base::Status(base::kOutOfRange, "-2 is large");
    if (std::find(x, x + rows, -3) != x + rows) return base::Status(base::kResourceExhausted, "-3 finds no memory");
    for (int64_t& value : result) value = -value;
    outputs[0] = inputs[0];
    outputs[0].data = result.data();
    return {};
  }

 private:
  const wf_model& row_;
  std::vector<std::vector<int64_t>> memory_;
};

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() {
    static const int8_t axes[] = {0, 0};
    static const int64_t free[] = {-1};
    port_.dim = free;
    port_.rank = 1;
    port_.dtype = WF_I64;
    row_.in = row_.out = &port_;
    row_.n_in = row_.n_out = 1;
    row_.batched = 1;
    row_.batch_axis = axes;
    model_ = std::make_unique<test::FakeModel>(row_, 3, 16, 1);
  }
  BatcherOptions Options(int64_t max_rows = 16) {
    return {.model = model_.get(), .policy = {.max_rows = max_rows, .max_queued_rows = 1 << 20}};
  }

  // With a credit, to be submitted.
  static test::TestRow& Reserved(Batcher& batcher, base::Mailbox& home, std::deque<test::TestRow>& rows, std::vector<int64_t> values,
                                 int64_t delay_ns = 0) {
    test::TestRow& row = rows.emplace_back(std::move(values));
    row.home = &home;
    row.delay_ns = delay_ns;
    EXPECT_TRUE(batcher.Reserve(row));
    return row;
  }
  static void Submit(Batcher& batcher, base::Mailbox& home, std::deque<test::TestRow>& rows, std::vector<int64_t> values,
                     int64_t delay_ns = 0) {
    ASSERT_TRUE(batcher.Submit(Reserved(batcher, home, rows, std::move(values), delay_ns)));
  }

  // Waits until all rows have come back.
  void Collect(base::Mailbox& mailbox, Sleeper& sleeper, std::deque<test::TestRow>& rows) {
    for (;;) {
      mailbox.Drain();
      bool all = true;
      for (const test::TestRow& row : rows) all = all && row.delivered != 0;
      if (all) return;
      if (mailbox.PrepareToSleep()) sleeper.Sleep();
      mailbox.Awake();
    }
  }

  base::SystemClock clock_;
  wf_port port_{};
  wf_model row_{};
  std::unique_ptr<test::FakeModel> model_;
};

TEST_F(ExecutorTest, RunsEveryRowOfManyThreadsOnce) {
  constexpr int kLoops = 3, kRows = 500;
  Sleeper sleepers[kLoops];
  base::Mailbox mailboxes[kLoops] = {base::Mailbox(sleepers[0]), base::Mailbox(sleepers[1]),
                                     base::Mailbox(sleepers[2])};  // outlive the executor
  Executor executor({.threads = 2}, clock_);
  Batcher& batcher = executor.AddBatcher(Options());
  std::vector<std::thread> loops;
  for (int loop = 0; loop < kLoops; ++loop) {
    loops.emplace_back([&, loop] {
      Sleeper& sleeper = sleepers[loop];
      base::Mailbox& mailbox = mailboxes[loop];
      std::deque<test::TestRow> rows;
      for (int i = 0; i < kRows; ++i) {
        Submit(batcher, mailbox, rows, {loop * kRows + i, i});
      }
      Collect(mailbox, sleeper, rows);
      for (int i = 0; i < kRows; ++i) {
        EXPECT_EQ(rows[static_cast<size_t>(i)].delivered, 1);
        EXPECT_EQ(rows[static_cast<size_t>(i)].result()[0], test::FakeModel::Value(loop * kRows + i, 3));
      }
    });
  }
  for (std::thread& loop : loops) loop.join();
  EXPECT_EQ(batcher.stats().rows.load(), static_cast<uint64_t>(kLoops * kRows));
  EXPECT_LT(batcher.stats().batches(), static_cast<uint64_t>(kLoops * kRows));
  EXPECT_EQ(batcher.queued_rows(), 0);
}

TEST_F(ExecutorTest, AWithdrawnRowComesBackOnceOrNotAtAll) {
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  Executor executor({.threads = 1}, clock_);
  Batcher& batcher = executor.AddBatcher(Options());
  std::deque<test::TestRow> rows;
  int unlinked = 0;
  for (int i = 0; i < 2000; ++i) {
    test::TestRow& row = rows.emplace_back(std::vector<int64_t>{i});
    row.home = &mailbox;
    ASSERT_TRUE(batcher.Reserve(row));
    ASSERT_TRUE(batcher.Submit(row));
    if (i % 2 == 0 && batcher.Withdraw(row) == Withdrawal::kUnlinked) {
      ++unlinked;
      ++row.delivered;  // ours again
    }
  }
  Collect(mailbox, sleeper, rows);
  for (const test::TestRow& row : rows) EXPECT_EQ(row.delivered, 1);
  EXPECT_EQ(batcher.stats().rows.load() + static_cast<uint64_t>(unlinked), rows.size());
  EXPECT_EQ(batcher.queued_rows(), 0);
}

TEST_F(ExecutorTest, ARowWithdrawnBeforeItIsSubmittedIsRefused) {
  Executor executor({.threads = 0}, clock_);
  Batcher& batcher = executor.AddBatcher(Options());
  test::TestRow row({1});
  ASSERT_TRUE(batcher.Reserve(row));
  EXPECT_EQ(batcher.Withdraw(row), Withdrawal::kNotSubmitted);
  EXPECT_FALSE(batcher.Submit(row));
  batcher.Unreserve(row);
  EXPECT_EQ(batcher.queued_rows(), 0);
}

TEST_F(ExecutorTest, HoldsRowsForCompanyButNotLonger) {
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  Executor executor({.threads = 2}, clock_);
  Batcher& batcher = executor.AddBatcher(Options());
  std::deque<test::TestRow> rows;
  const base::TimePoint started = clock_.Now();
  for (int i = 0; i < 3; ++i) {
    Submit(batcher, mailbox, rows, {i}, 20'000'000);
  }
  Collect(mailbox, sleeper, rows);
  EXPECT_GE(clock_.Now() - started, 20'000'000);
  EXPECT_EQ(batcher.stats().batches(), 1U);
  EXPECT_EQ(batcher.stats().closed[static_cast<int>(CloseReason::kDelay)].load(), 1U);
}

TEST_F(ExecutorTest, RowsComeBackWhileTheirSizesAreBeingMadeReady) {
  static const int64_t one[] = {1};
  port_.dim = one;
  Negation model(row_, 3);
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 2}, clock_);
  BatcherOptions options = Options();
  options.model = &model;
  options.instances = 2;
  options.measuring_instance = 2;
  Batcher& batcher = executor.AddBatcher(options);
  executor.StartPreparing();
  for (int i = 0; i < 2000; ++i) {
    Submit(batcher, mailbox, rows, {i});
  }
  Collect(mailbox, sleeper, rows);
  for (int i = 0; i < 2000; ++i) {
    EXPECT_EQ(rows[static_cast<size_t>(i)].delivered, 1);
    EXPECT_EQ(rows[static_cast<size_t>(i)].result()[0], -i);
  }
  const base::TimePoint until = clock_.Now() + INT64_C(10'000'000'000);
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    while (clock_.Now() < until && !batcher.cost().known(size)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(batcher.cost().known(size)) << size;
  }
}

TEST_F(ExecutorTest, BatchersComeAndGoWhileOthersRun) {
  static const int64_t one[] = {1};
  port_.dim = one;
  class Releasing final : public Runnable {
   public:
    explicit Releasing(Negation& inner) : inner_(inner) {}
    const wf_model& model() const override { return inner_.model(); }
    int64_t version() const override { return 1; }
    int64_t max_rows() const override { return 16; }
    int instance_count() const override { return inner_.instance_count(); }
    void Release(int instance) override { released[static_cast<size_t>(instance)].store(true); }
    base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                     const base::Wanted* wanted) override {
      return inner_.Run(instance, rows, inputs, outputs, wanted);
    }
    std::atomic<bool> released[5] = {};

   private:
    Negation& inner_;
  };
  Negation negation(row_, 5);
  Releasing model(negation);
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows, later;
  Executor executor({.threads = 2}, clock_);
  BatcherOptions options = Options();
  options.model = &model;
  options.measuring_instance = 4;
  Batcher& first = executor.AddBatcher(options);
  executor.StartPreparing();
  options.first_instance = 2;
  options.instances = 2;
  for (int round = 0; round < 20; ++round) {
    options.policy.max_rows = 1 + round % 3;
    Batcher& second = executor.AddBatcher(options);
    second.LearnFrom(first);
    executor.Prepare(second);
    for (int i = 0; i < 50; ++i) {
      Submit(first, mailbox, rows, {i});
      Submit(second, mailbox, later, {i});
    }
    Collect(mailbox, sleeper, later);
    model.released[2] = model.released[3] = false;
    while (!executor.RemoveBatcher(second)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(model.released[2] && model.released[3]);
    EXPECT_EQ(later.back().result()[0], -49);
    later.clear();
  }
  Collect(mailbox, sleeper, rows);
  EXPECT_EQ(first.stats().rows.load(), 1000U);
}

TEST_F(ExecutorTest, ARunEndsOnceNobodyWaitsForAnyOfItsRows) {
  static const int64_t one[] = {1};
  port_.dim = one;
  class Asking final : public Runnable {
   public:
    explicit Asking(const wf_model& row) : row_(row) {}
    const wf_model& model() const override { return row_; }
    int64_t version() const override { return 1; }
    int64_t max_rows() const override { return 2; }
    int instance_count() const override { return 1; }
    base::Status Run(int, int64_t, std::span<const wf_tensor>, std::span<wf_tensor>, const base::Wanted* wanted) override {
      begun.fetch_add(1);
      while (wanted->IsWanted()) std::this_thread::yield();
      return base::Status(base::kCancelled, "nobody waits");
    }
    std::atomic<int> begun{0};

   private:
    const wf_model& row_;
  } model(row_);
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 1}, clock_);
  BatcherOptions options = Options(2);
  options.model = &model;
  Batcher& batcher = executor.AddBatcher(options);
  Submit(batcher, mailbox, rows, {1});
  while (model.begun == 0) std::this_thread::yield();
  EXPECT_EQ(batcher.Withdraw(rows.front()), Withdrawal::kTaken);
  Collect(mailbox, sleeper, rows);
  EXPECT_EQ(rows.front().delivered, 1);
  EXPECT_EQ(model.begun, 1);
}

TEST_F(ExecutorTest, ADrainRunsWhatWaitsForCompany) {
  constexpr int64_t kHour = INT64_C(3'600'000'000'000);
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 2}, clock_);
  Batcher& batcher = executor.AddBatcher(Options());
  Submit(batcher, mailbox, rows, {1}, kHour);
  executor.BeginDrain();
  Collect(mailbox, sleeper, rows);
  Submit(batcher, mailbox, rows, {2}, kHour);
  Collect(mailbox, sleeper, rows);
  EXPECT_EQ(batcher.stats().closed[static_cast<size_t>(CloseReason::kDrain)].load(), 2U);
}

TEST_F(ExecutorTest, RowsThatCannotRunFailAlone) {
  static const int64_t one[] = {1};
  port_.dim = one;
  Negation model(row_, 1);
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 0}, clock_);
  BatcherOptions options = Options();
  options.model = &model;
  Batcher& batcher = executor.AddBatcher(options);
  for (const int64_t value : {-1, 1, 2, 3, 4, -2, 6, -1, 8, -3, 10, 11, 12}) {
    Submit(batcher, mailbox, rows, {value});
  }
  rows[2].left = 7;
  while (auto work = executor.Take()) {
    executor.Run(*work);
    executor.Finish(*work);
  }
  mailbox.Drain();
  const std::map<int64_t, std::pair<wf_code, std::string>> failures = {
      {-1, {9000, "-1 is refused"}}, {-2, {3012, "-2 is large"}}, {-3, {3010, "-3 finds no memory"}}, {2, {3012, "too large"}}};
  for (const test::TestRow& row : rows) {
    const int64_t value = static_cast<const int64_t*>(row.inputs[0]->data)[0];
    const auto expected = failures.find(value);
    EXPECT_EQ(row.delivered, 1) << value;
    EXPECT_EQ(row.failed, expected == failures.end() ? 0 : expected->second.first) << value;
    if (expected != failures.end()) {
      EXPECT_EQ(row.message, expected->second.second);
    } else {
      EXPECT_EQ(row.result()[0], -value);
    }
  }
  EXPECT_EQ(batcher.stats().rows.load(), rows.size());
}

TEST_F(ExecutorTest, TheLoopRunsWhatIsShortAndOfOneShape) {
  for (const bool open : {false, true}) {
    model_->open = open;
    Sleeper sleeper;
    base::Mailbox mailbox(sleeper);
    std::deque<test::TestRow> rows;
    Executor executor({.threads = 0}, clock_);
    Batcher& batcher = executor.AddBatcher(Options(/*max_rows=*/1));
    batcher.cost().Learn(1, 10'000);
    Submit(batcher, mailbox, rows, {1});
    auto work = executor.Take();
    ASSERT_TRUE(work.has_value());
    executor.Run(*work);
    executor.Finish(*work);
    mailbox.Drain();
    EXPECT_EQ(batcher.inline_pays(), !open);
    batcher.LearnRunOnLoop(0, 10'000'000);  // once is an accident
    EXPECT_EQ(batcher.inline_pays(), !open);
    for (int i = 0; i < 40; ++i) batcher.LearnRunOnLoop(0, 10'000'000);
    EXPECT_FALSE(batcher.inline_pays());
  }
}

TEST_F(ExecutorTest, ACallerRunsWhatIsDueAndShortAndLeavesTheRest) {
  constexpr int64_t kMostNs = 2'000'000;
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 0}, clock_);
  Batcher& batcher = executor.AddBatcher(Options(/*max_rows=*/1));
  EXPECT_FALSE(executor.RunShort(kMostNs));
  Submit(batcher, mailbox, rows, {1});
  EXPECT_FALSE(executor.RunShort(kMostNs)) << "nobody knows what it takes";
  test::FakeModel other(row_, 3, 16, 1);
  Batcher& known = executor.AddBatcher({.model = &other, .policy = {.max_rows = 1, .max_queued_rows = 8}});
  known.cost().Learn(1, kMostNs / 2);
  known.HeedRows();
  Submit(known, mailbox, rows, {2});
  Submit(known, mailbox, rows, {3}, INT64_C(10'000'000'000));
  EXPECT_TRUE(executor.RunShort(kMostNs));
  mailbox.Drain();
  EXPECT_EQ(rows[1].delivered, 1);
  EXPECT_EQ(other.run_rows, std::vector<int64_t>{1});
  while (executor.RunShort(kMostNs)) {
  }
  EXPECT_TRUE(model_->run_rows.empty()) << "what is left is for the threads";
  while (auto work = executor.Take()) {
    executor.Run(*work);
    executor.Finish(*work);
  }
  mailbox.Drain();
  for (const test::TestRow& row : rows) EXPECT_EQ(row.delivered, 1);
}

// Nobody is woken for what its caller may run itself; what it does not run, a thread learns of from it.
TEST_F(ExecutorTest, AThreadIsToldOfQuietRowsByTheirCaller) {
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 1}, clock_);
  Batcher& batcher = executor.AddBatcher(Options());
  Submit(batcher, mailbox, rows, {1});
  Collect(mailbox, sleeper, rows);  // so the thread has come, and sleeps again in a while
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  test::TestRow& row = Reserved(batcher, mailbox, rows, {2});
  ASSERT_TRUE(batcher.SubmitQuietly(row));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  mailbox.Drain();
  EXPECT_EQ(row.delivered, 0);
  EXPECT_FALSE(executor.RunShort(/*most_ns=*/0));
  Collect(mailbox, sleeper, rows);
}

// A model whose rows are always urgent keeps no thread from those that have waited for long.
TEST_F(ExecutorTest, RowsOfEveryModelRiseByWaiting) {
  test::FakeClock clock;
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  Executor executor({.threads = 0}, clock);
  test::FakeModel other(row_, 3, 16, 1);
  Batcher& urgent = executor.AddBatcher({.model = &other, .policy = {.max_rows = 1, .max_queued_rows = 1 << 10}});
  Batcher& usual = executor.AddBatcher(Options());
  const auto submit = [&](Batcher& to, uint8_t priority) -> test::TestRow& {
    test::TestRow& row = rows.emplace_back(std::vector<int64_t>{1});
    row.home = &mailbox;
    row.priority = priority;
    row.deadline = clock.Now() + INT64_C(30'000'000'000);
    EXPECT_TRUE(to.Reserve(row) && to.Submit(row));
    return row;
  };
  const test::TestRow& patient = submit(usual, WF_NORMAL);
  int before = 0;
  while (patient.delivered == 0 && before < 1000) {
    submit(urgent, WF_HIGH);
    submit(urgent, WF_HIGH);
    auto work = executor.Take();
    ASSERT_TRUE(work.has_value());
    clock.AdvanceNs(10'000'000);
    executor.Run(*work);
    executor.Finish(*work);
    mailbox.Drain();
    ++before;
  }
  EXPECT_GT(before, 5);
  EXPECT_LT(before, 30);
}

TEST_F(ExecutorTest, ACallerRunsNothingBesideAThreadAtWork) {
  std::atomic<bool> is_running = false, may_end = false;
  model_->fails = [&] {
    is_running = true;
    while (!may_end) std::this_thread::yield();
    return false;
  };
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  test::FakeModel other(row_, 3, 16, 1);
  Executor executor({.threads = 1}, clock_);
  Batcher& longer = executor.AddBatcher(Options());
  Batcher& known = executor.AddBatcher({.model = &other, .policy = {.max_rows = 1, .max_queued_rows = 8}});
  known.cost().Learn(1, 1'000'000);
  Submit(longer, mailbox, rows, {1});
  while (!is_running) std::this_thread::yield();
  ASSERT_TRUE(known.SubmitQuietly(Reserved(known, mailbox, rows, {2})));
  EXPECT_FALSE(executor.RunShort(2'000'000));
  may_end = true;
  Collect(mailbox, sleeper, rows);  // the thread has looked for more
}

TEST_F(ExecutorTest, RunsWhatWaitsBeforeItStops) {
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  {
    Executor executor({.threads = 1}, clock_);
    Batcher& batcher = executor.AddBatcher(Options());
    for (int i = 0; i < 5; ++i) Submit(batcher, mailbox, rows, {i}, INT64_C(10'000'000'000));
  }
  mailbox.Drain();
  for (const test::TestRow& row : rows) EXPECT_EQ(row.delivered, 1);
}

TEST_F(ExecutorTest, StopsAlthoughOneInstanceKeepsAThreadWaiting) {
  Sleeper sleeper;
  base::Mailbox mailbox(sleeper);
  std::deque<test::TestRow> rows;
  model_->fails = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the other thread finds rows, and no instance to run them
    return false;
  };
  {
    Executor executor({.threads = 2}, clock_);
    Batcher& batcher = executor.AddBatcher(Options(1));
    for (int i = 0; i < 6; ++i) {
      test::TestRow& row = rows.emplace_back(std::vector<int64_t>{i});
      row.home = &mailbox;
      row.priority = static_cast<uint8_t>(i % 3);
      ASSERT_TRUE(batcher.Reserve(row));
      ASSERT_TRUE(batcher.Submit(row));
    }
  }
  mailbox.Drain();
  for (const test::TestRow& row : rows) EXPECT_EQ(row.delivered, 1);
}

}  // namespace
}  // namespace wf::batch
