#include "runtime/loop/loop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>
#include <vector>

#include "runtime/loop/signals.h"

namespace wf::loop {
namespace {

// Stops its loop when everything that the test waits for has come.
class FakeTurn : public Turn {
 public:
  void OnFlush() noexcept override { ++flushes; }
  void OnPoll() noexcept override {}
  bool OnIdle() noexcept override { return pieces > 0 && --pieces >= 0; }
  base::TimePoint NextTimerAt() noexcept override { return next_timer_at; }
  void OnTime() noexcept override {
    ++timers;
    fired_at = base::SystemClock().Now();
    next_timer_at = INT64_MAX;
    if (loop != nullptr) loop->Stop();
  }
  void OnSecond() noexcept override {}

  Loop* loop = nullptr;
  int flushes = 0, timers = 0, pieces = 0;
  base::TimePoint next_timer_at = INT64_MAX, fired_at = 0;
};

struct CountMessage : base::Message {
  void Deliver() noexcept override {
    on_thread = std::this_thread::get_id();
    if (++*count == stop_at) loop->Stop();
  }
  Loop* loop = nullptr;
  int* count = nullptr;
  int stop_at = 0;
  std::thread::id on_thread;
};

TEST(Loop, DeliversEveryMessageOfOtherThreadsOnItsOwn) {
  base::SystemClock clock;
  Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  constexpr int kThreads = 4, kEach = 500;
  int count = 0;
  std::vector<CountMessage> messages(kThreads * kEach);
  for (CountMessage& message : messages) {
    message.loop = &loop;
    message.count = &count;
    message.stop_at = kThreads * kEach;
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        loop.mailbox().Post(messages[static_cast<size_t>(t * kEach + i)]);
        if (i % 50 == 0) std::this_thread::yield();
      }
    });
  }
  FakeTurn turn;
  loop.Run(turn);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kEach);
  for (const CountMessage& message : messages) ASSERT_EQ(message.on_thread, std::this_thread::get_id());
  EXPECT_GT(turn.flushes, 0);
}

TEST(Loop, DoesOnePieceOfLongWorkATurnAndSleepsAfterTheLast) {
  base::SystemClock clock;
  Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  FakeTurn turn;
  turn.loop = &loop;
  turn.pieces = 5;
  turn.next_timer_at = clock.Now() + 20'000'000;
  loop.Run(turn);
  EXPECT_EQ(turn.pieces, 0);
  EXPECT_GE(turn.flushes, 5);   // before each of them
  EXPECT_LT(turn.flushes, 30);  // and none while it slept
}

TEST(Loop, FiresATimerOnTimeAndNotBefore) {
  base::SystemClock clock;
  Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  FakeTurn turn;
  turn.loop = &loop;
  turn.next_timer_at = clock.Now() + 20'000'000;
  const base::TimePoint due = turn.next_timer_at;
  loop.Run(turn);
  EXPECT_EQ(turn.timers, 1);
  EXPECT_GE(turn.fired_at, due);
}

TEST(Loop, StopsWhenAnotherThreadSaysSo) {
  base::SystemClock clock;
  Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  FakeTurn turn;
  std::thread stopper([&] { loop.Stop(); });
  loop.Run(turn);
  stopper.join();
}

TEST(Signals, ArriveOnTheLoop) {
  base::SystemClock clock;
  Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  struct Stopper : Signals::Listener {
    void OnSignal(int signal) noexcept override {
      seen = signal;
      loop->Stop();
    }
    Loop* loop = nullptr;
    int seen = 0;
  } stopper;
  stopper.loop = &loop;
  Signals signals(loop, stopper);
  ASSERT_TRUE(signals.Watch({SIGUSR1, SIGUSR2}).ok());
  FakeTurn turn;
  raise(SIGUSR2);
  loop.Run(turn);
  loop.Close();
  EXPECT_EQ(stopper.seen, SIGUSR2);
}

}  // namespace
}  // namespace wf::loop
