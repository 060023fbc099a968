#include "runtime/sched/worker_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/base/clock.h"
#include "runtime/batch/executor.h"
#include "runtime/bus/memory.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/random_plan.h"
#include "tests/unit/support/rig.h"

namespace wf::sched {
namespace {

class Sleeper final : public base::Waker {
 public:
  void Wake() noexcept override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    condition_.notify_one();
  }
  void SleepUntil(base::TimePoint at) {
    std::unique_lock lock(mutex_);
    const auto until = std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at));
    condition_.wait_until(lock, until, [this] { return woken_; });
    woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
};

// What the threads of a process share.
struct Process {
  explicit Process(const wf_plan& the_plan, int workers) : plan(the_plan), index(the_plan), catalogue(1, the_plan.n_tasks) {
    executor = std::make_unique<batch::Executor>(batch::ExecutorOptions{.threads = 2}, clock);
    pool = std::make_unique<WorkerPool>(WorkerPoolOptions{.threads = workers, .spin_ns = 20'000}, clock);
    for (uint32_t i = 0; i < plan.n_models; ++i) {
      models.push_back(std::make_unique<test::FakeModel>(plan.models[i], 1, 8, 1));
      batchers.push_back(&executor->AddBatcher({.model = models.back().get(), .policy = {.max_rows = 8, .max_queued_rows = 1 << 16}}));
    }
    for (uint32_t i = 0; i < plan.n_tasks; ++i)
      if (plan.tasks[i].kind == WF_MODEL) catalogue.by_task[i] = {batchers[plan.tasks[i].target], models[plan.tasks[i].target].get(), -1};
  }
  const wf_plan& plan;
  base::SystemClock clock;
  bus::PlanIndex index;
  bus::ChunkMemory memory;
  std::vector<std::unique_ptr<test::FakeModel>> models;
  std::vector<batch::Batcher*> batchers;
  Catalogue catalogue;
  std::unique_ptr<batch::Executor> executor;
  std::unique_ptr<WorkerPool> pool;
};

// One loop's thread: sends requests, some of which it gives up, until all have come home.
class LoopThread final : public bus::Client {
 public:
  LoopThread(Process& process, int number) : process_(process), random_(static_cast<uint64_t>(number) + 1), number_(number) {}

  void Run(int requests, int most_at_once) {
    base::Mailbox& mailbox = mailbox_;
    EngineOptions options;
    options.schedule = number_ % 2 == 0 ? Schedule::kPool : Schedule::kAuto;
    if (number_ % 2 == 1) options.between_turns_ns = kBetweenTurnsNs;
    options.loop = number_;
    Engine engine(process_.plan, process_.index, {process_.clock, mailbox, *process_.pool, process_.memory}, options);
    engine_ = &engine;
    engine.SetCatalogue(process_.catalogue);
    while (started_ < requests || engine.live_buses() > 0) {
      engine.OnPoll();
      while (started_ < requests && engine.live_buses() < static_cast<uint32_t>(most_at_once)) StartOne();
      mailbox.Drain();
      engine.OnTime();
      if (engine.OnIdle() || engine.live_buses() == 0) continue;
      if (mailbox.PrepareToSleep()) sleeper_.SleepUntil(std::min(engine.NextTimerAt(), process_.clock.Now() + INT64_C(5'000'000'000)));
      mailbox.Awake();
    }
  }

  void OnAnswered(bus::Bus& bus) noexcept override {
    ++answered;
    if (bus.failure() == nullptr) ++succeeded;
    engine_->Release(bus);
  }
  void OnDrained(bus::Bus&) noexcept override { ++drained; }

  int answered = 0, succeeded = 0, cancelled = 0, drained = 0;

 private:
  void StartOne() {
    bus::Bus* const bus = engine_->Create({.workflow = process_.plan.workflows, .client = this, .received_at = process_.clock.Now()});
    for (int i = 0; i < 2; ++i)
      test::WriteInt(process_.plan, process_.plan.workflows->in[i].slot, bus->frame(), static_cast<int64_t>(random_() % 50));
    ++started_;
    const int answered_before = answered;
    engine_->Start(*bus);
    if (answered == answered_before && random_() % 8 == 0) {
      ++cancelled;
      engine_->Cancel(*bus);
    }
  }

  Process& process_;
  std::mt19937_64 random_;
  const int number_;
  Sleeper sleeper_;
  base::Mailbox mailbox_{sleeper_};
  Engine* engine_ = nullptr;
  int started_ = 0;
};

TEST(WorkerPoolTest, LoopsShareThePoolAndTheExecutor) {
  constexpr int kRequests = 150;
  int succeeded = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    std::mt19937_64 random(seed);
    test::PlanBuilder builder;
    Process process(test::MakeRandomPlan(builder, random, {}), 3);
    std::deque<LoopThread> loops;
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      loops.emplace_back(process, i);
      threads.emplace_back([&loop = loops.back()] { loop.Run(kRequests, 24); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const LoopThread& loop : loops) {
      EXPECT_EQ(loop.answered + loop.cancelled, kRequests);
      EXPECT_EQ(loop.drained, kRequests);
      succeeded += loop.succeeded;
    }
    for (const batch::Batcher* batcher : process.batchers) EXPECT_EQ(batcher->queued_rows(), 0);
    EXPECT_EQ(process.memory.in_use_bytes(), 0);
    // A thread may still be on its way out of Post when its message has been delivered: mailboxes outlive those that post.
    process.pool.reset();
    process.executor.reset();
  }
  EXPECT_GT(succeeded, 0);
}

}  // namespace
}  // namespace wf::sched
