#include "runtime/sched/wheel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace wf::sched {
namespace {

constexpr int64_t kMs = 1'000'000;

struct Alarm : base::TimerNode {
  Alarm() {
    on_time = [](base::TimerNode& node) noexcept { ++static_cast<Alarm&>(node).fired; };
  }
  int fired = 0;
};

TEST(WheelTest, FiresAtTheMillisecondAfterItsTimeAndNotBefore) {
  Wheel wheel(0);
  Alarm alarm;
  wheel.Arm(alarm, 5 * kMs - 1);
  EXPECT_EQ(wheel.NextAt(), 5 * kMs);
  wheel.Advance(5 * kMs - 1);
  EXPECT_EQ(alarm.fired, 0);
  wheel.Advance(5 * kMs);
  EXPECT_EQ(alarm.fired, 1);
  EXPECT_FALSE(alarm.armed());
  EXPECT_EQ(wheel.NextAt(), INT64_MAX);
}

TEST(WheelTest, ACancelledTimerNeverFires) {
  Wheel wheel(0);
  Alarm alarm;
  wheel.Cancel(alarm);  // harmless
  wheel.Arm(alarm, 5 * kMs);
  wheel.Cancel(alarm);
  wheel.Advance(100 * kMs);
  EXPECT_EQ(alarm.fired, 0);
}

TEST(WheelTest, TheNextIsNeverToldTooLateAndExactlyOnceItWasLookedFor) {
  Wheel wheel(0);
  Alarm first, second, far;
  wheel.Arm(far, 30'000 * kMs);
  wheel.Arm(second, 9 * kMs);
  wheel.Arm(first, 5 * kMs);
  EXPECT_EQ(wheel.NextAt(), 5 * kMs);
  wheel.Cancel(first);
  EXPECT_LE(wheel.NextAt(), 9 * kMs);
  wheel.Advance(5 * kMs);
  EXPECT_EQ(wheel.NextAt(), 9 * kMs);
  wheel.Advance(9 * kMs);
  EXPECT_EQ(second.fired, 1);
  EXPECT_GT(wheel.NextAt(), 9 * kMs);
  EXPECT_LE(wheel.NextAt(), 30'000 * kMs);
  wheel.Cancel(far);
  EXPECT_EQ(wheel.NextAt(), INT64_MAX);
}

TEST(WheelTest, ATimeThatHasPassedFiresAtTheNextMillisecond) {
  Wheel wheel(100 * kMs);
  Alarm alarm;
  wheel.Arm(alarm, 3 * kMs);
  wheel.Advance(101 * kMs);
  EXPECT_EQ(alarm.fired, 1);
}

TEST(WheelTest, OneTimerMayCancelAnotherThatIsDueWithIt) {
  Wheel wheel(0);
  struct Killer : base::TimerNode {
    Wheel* wheel;
    base::TimerNode* victim;
  } killer;
  Alarm victim;
  killer.wheel = &wheel;
  killer.victim = &victim;
  killer.on_time = [](base::TimerNode& node) noexcept { static_cast<Killer&>(node).wheel->Cancel(*static_cast<Killer&>(node).victim); };
  wheel.Arm(killer, 7 * kMs);
  wheel.Arm(victim, 7 * kMs);
  wheel.Advance(8 * kMs);
  EXPECT_EQ(victim.fired, 0);
}

TEST(WheelTest, KeepsTimeOverAllItsRanges) {
  std::mt19937_64 random(7);
  Wheel wheel(12345);
  std::vector<Alarm> alarms(2000);
  base::TimePoint now = 12345;
  for (Alarm& alarm : alarms) {
    const int64_t range = random() % 3 == 0 ? 2000 * kMs : random() % 2 == 0 ? 300'000 * kMs : 900'000 * kMs;
    wheel.Arm(alarm, now + static_cast<int64_t>(random() % static_cast<uint64_t>(range)));
  }
  while (wheel.NextAt() < INT64_MAX) {
    const base::TimePoint previous = now;
    now = random() % 2 == 0 ? std::max(now, wheel.NextAt()) : now + static_cast<int64_t>(random() % 700) * kMs;
    wheel.Advance(now);
    for (const Alarm& alarm : alarms) {
      const bool due = alarm.at <= now, may_wait = alarm.at + kMs > now;
      ASSERT_TRUE(alarm.fired == 1 ? due : may_wait) << alarm.at << " at " << now << " after " << previous;
    }
  }
  for (const Alarm& alarm : alarms) EXPECT_EQ(alarm.fired, 1);
}

}  // namespace
}  // namespace wf::sched
