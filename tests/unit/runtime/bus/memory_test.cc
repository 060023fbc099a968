#include "runtime/bus/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <semaphore>
#include <thread>
#include <vector>

#include "runtime/base/poison.h"

namespace wf::bus {
namespace {

TEST(ChunkMemoryTest, GivesTheSameChunkAgain) {
  ChunkMemory memory;
  void* const first = memory.Take(4096);
  memory.Give(first, 4096);
  void* const second = memory.Take(4096);
  EXPECT_EQ(first, second);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 64, 0U);
  memory.Give(second, 4096);
  EXPECT_EQ(memory.in_use_bytes(), 0);
}

// A sanitized build sees whoever still reads a chunk that waits in a cache.
TEST(ChunkMemoryTest, WhatIsKeptIsPoisoned) {
#ifdef WF_ADDRESS_SANITIZER
  ChunkMemory memory;
  void* const chunk = memory.Take(4096);
  EXPECT_EQ(__asan_region_is_poisoned(chunk, 4096), nullptr);
  memory.Give(chunk, 4096);
  EXPECT_EQ(__asan_address_is_poisoned(chunk), 1);
  EXPECT_EQ(memory.Take(4096), chunk);
  EXPECT_EQ(__asan_region_is_poisoned(chunk, 4096), nullptr);
  std::thread([&] { memory.Give(chunk, 4096); }).join();
  EXPECT_EQ(__asan_address_is_poisoned(static_cast<char*>(chunk) + 4095), 1);
#else
  EXPECT_FALSE(base::kSeesPoison);
#endif
}

TEST(ChunkMemoryTest, RefusesAboveItsLimit) {
  ChunkMemory memory(10'000);
  void* const first = memory.Take(8192);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(memory.Take(8192), nullptr);
  memory.Give(first, 8192);
  void* const again = memory.Take(8192);
  EXPECT_NE(again, nullptr);
  memory.Give(again, 8192);
}

TEST(ChunkMemoryTest, ChunksAndWhatIsClaimedShareTheLimit) {
  ChunkMemory memory(10'000);
  EXPECT_TRUE(memory.Claim(5'000));
  void* const chunk = memory.Take(4096);
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ(memory.Take(4096), nullptr);
  EXPECT_FALSE(memory.Claim(1'000));
  memory.Give(chunk, 4096);
  EXPECT_TRUE(memory.Claim(3'750));
  memory.Unclaim(8'750);
  EXPECT_EQ(memory.in_use_bytes(), 0);
}

TEST(ChunkMemoryTest, WhatIsClaimedLeavesAnEighthToChunks) {
  ChunkMemory memory(64 << 10);
  EXPECT_FALSE(memory.Claim(memory.most_bytes() + 1));
  EXPECT_TRUE(memory.Claim(memory.most_bytes()));
  EXPECT_FALSE(memory.Claim(1));
  void* const chunk = memory.Take(8 << 10);
  ASSERT_NE(chunk, nullptr);
  EXPECT_EQ(memory.Take(1 << 10), nullptr);
  memory.Give(chunk, 8 << 10);
  memory.Unclaim(memory.most_bytes());
}

TEST(ChunkMemoryTest, MapsLargeChunksAlone) {
  ChunkMemory memory;
  const size_t bytes = (size_t{3} << 20) + 4096;
  auto* const chunk = static_cast<char*>(memory.Take(bytes));
  ASSERT_NE(chunk, nullptr);
  chunk[bytes - 1] = 1;
  memory.Give(chunk, bytes);
  EXPECT_EQ(memory.in_use_bytes(), 0);
}

TEST(ChunkMemoryTest, AChunkGoesBackToTheThreadThatMadeIt) {
  ChunkMemory memory;
  void* const chunk = memory.Take(16'384);
  std::thread([&] { memory.Give(chunk, 16'384); }).join();
  EXPECT_EQ(memory.Take(16'384), chunk);
  memory.Give(chunk, 16'384);
}

TEST(ChunkMemoryTest, ThreadsHandChunksToEachOther) {
  ChunkMemory memory;
  constexpr int kThreads = 4, kRounds = 2000;
  std::atomic<void*> desk[kThreads] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        void* const chunk = memory.Take(4096);
        std::memset(chunk, t, 4096);
        void* const other = desk[(t + i) % kThreads].exchange(chunk);
        if (other != nullptr) memory.Give(other, 4096);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::atomic<void*>& left : desk)
    if (left.load() != nullptr) memory.Give(left.load(), 4096);
  EXPECT_EQ(memory.in_use_bytes(), 0);
}

bool IsMapped(void* chunk) {
  unsigned char resident = 0;
  const uintptr_t page = reinterpret_cast<uintptr_t>(chunk) & ~uintptr_t{4095};
  return mincore(reinterpret_cast<void*>(page), 4096, &resident) == 0;
}

TEST(ChunkMemoryTest, WhatOtherThreadsGiveBackGoesBackToTheSystem) {
  constexpr size_t kChunks = 128, kBytes = size_t{1} << 20;
  constexpr ptrdiff_t kKept = 2 * ChunkMemory::kKeptBytes / kBytes, kOthers = 8;  // that the system gave to others since
  ChunkMemory memory;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> chunks;
    for (size_t i = 0; i < kChunks; ++i) {
      chunks.push_back(memory.Take(kBytes));
      ASSERT_NE(chunks.back(), nullptr);
      std::memset(chunks.back(), 1, kBytes);
    }
    EXPECT_TRUE(std::all_of(chunks.begin(), chunks.end(), IsMapped));
    std::thread([&] {
      for (void* chunk : chunks) memory.Give(chunk, kBytes);
    }).join();
    EXPECT_LE(std::count_if(chunks.begin(), chunks.end(), IsMapped), kKept + kOthers);
  }
}

TEST(ChunkMemoryTest, WhatAThreadThatSleepsKeepsGoesBackWhenAnotherDropsIt) {
  constexpr size_t kBytes = size_t{1} << 20;
  ChunkMemory memory;
  void* chunk = nullptr;
  std::binary_semaphore kept(0), over(0);
  std::thread sleeper([&] {
    chunk = memory.Take(kBytes);
    if (chunk != nullptr) memory.Give(chunk, kBytes);
    kept.release();
    over.acquire();
    void* const again = memory.Take(kBytes);
    EXPECT_NE(again, nullptr);
    memory.Give(again, kBytes);
  });
  kept.acquire();
  EXPECT_TRUE(IsMapped(chunk));
  memory.DropKept();
  EXPECT_FALSE(IsMapped(chunk));
  over.release();
  sleeper.join();
}

}  // namespace
}  // namespace wf::bus
