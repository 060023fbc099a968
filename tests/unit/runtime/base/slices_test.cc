#include "runtime/base/slices.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "runtime/base/ring.h"
#include "runtime/base/thread.h"

namespace wf::base {
namespace {

std::vector<Slice> All(const SliceRecording& recording) {
  std::vector<Slice> all;
  for (const SliceRecording::Lane& lane : recording.lanes()) all.insert(all.end(), lane.slices.begin(), lane.slices.end());
  return all;
}

void Note(uint64_t id) { const SliceScope scope(SliceKind::kTask, "some", id); }

TEST(Ring, WhatFindsNoRoomIsDroppedAndTheRestKeepsItsOrder) {
  Ring<int, 4> ring;
  for (int i = 0; i < 6; ++i) ring.Put(i);
  EXPECT_EQ(ring.held(), 4U);
  EXPECT_EQ(ring.dropped(), 2U);
  std::vector<int> taken;
  ring.Take([&](int value) {
    if (value == 2) return false;
    taken.push_back(value);
    return true;
  });
  EXPECT_EQ(taken, (std::vector{0, 1}));
  ring.Put(6);
  ring.Take([&](int value) {
    taken.push_back(value);
    return true;
  });
  EXPECT_EQ(taken, (std::vector{0, 1, 2, 3, 6}));
}

TEST(Slices, NothingIsNotedUnlessSomebodyLooks) {
  Note(1);
  SliceRecording recording(nullptr);
  {
    const SliceScope outer(SliceKind::kBatch, "outer", 2);
    Note(3);
  }
  recording.Stop();
  Note(4);
  recording.Collect();
  const std::vector<Slice> all = All(recording);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ((std::pair{all[0].data_id, all[1].data_id}), (std::pair{3UL, 2UL}));
  EXPECT_LE(all[1].begin, all[0].begin);
  EXPECT_LE(all[0].end, all[1].end);
  EXPECT_LE(recording.begin(), all[1].begin);
}

TEST(Slices, ARecordingHasNothingOfTheOneBefore) {
  {
    SliceRecording first(nullptr);
    Note(1);
  }
  SliceRecording second(nullptr);
  Note(2);
  second.Collect();
  ASSERT_EQ(All(second).size(), 1U);
  EXPECT_EQ(All(second)[0].data_id, 2U);
}

TEST(Slices, WhatIsTooMuchIsCounted) {
  SliceRecording recording(nullptr, 3);
  for (uint64_t i = 0; i < 5; ++i) Note(i);
  recording.Collect();
  EXPECT_EQ(All(recording).size(), 3U);
  EXPECT_EQ(recording.dropped(), 2U);
  for (uint64_t i = 0; i < 20'000; ++i) Note(i);  // more than a thread holds
  recording.Collect();
  EXPECT_EQ(recording.dropped(), 2U + 20'000);
}

struct CountedWaker final : Waker {
  void Wake() noexcept override { count.fetch_add(1); }
  std::atomic<int> count{0};
};

// Every slice of every thread is collected once or counted as dropped, whatever the threads do while recordings begin and end.
TEST(Slices, OfManyThreadsNoneIsLostUnseen) {
  constexpr int kThreads = 4, kRecordings = 20;
  constexpr uint64_t kEach = 50'000;
  CountedWaker waker;
  {
    SliceRecording recording(&waker);
    std::vector<Thread> threads;
    std::atomic<int> running{kThreads};
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back("slices", [t, &running] {
        for (uint64_t i = 0; i < kEach; ++i) Note(t << 32 | i);
        running.fetch_sub(1);
      });
    }
    while (running.load() != 0) recording.Collect();
    for (Thread& thread : threads) thread.Join();
    recording.Collect();
    EXPECT_EQ(All(recording).size() + recording.dropped(), kThreads * kEach);
    EXPECT_GT(waker.count.load(), 0);
    for (const SliceRecording::Lane& lane : recording.lanes()) {
      for (size_t i = 1; i < lane.slices.size(); ++i) ASSERT_LE(lane.slices[i - 1].end, lane.slices[i].begin);
    }
  }
  std::atomic<bool> stop{false};
  Thread busy("slices", [&stop] {
    for (uint64_t i = 0; !stop.load(); ++i) Note(i);
  });
  for (int i = 0; i < kRecordings; ++i) {
    SliceRecording recording(&waker);
    while (All(recording).empty()) recording.Collect();
    for (const Slice& slice : All(recording)) ASSERT_GE(slice.begin, recording.begin());
  }
  stop.store(true);
  busy.Join();
}

}  // namespace
}  // namespace wf::base
