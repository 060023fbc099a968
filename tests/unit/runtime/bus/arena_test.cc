#include "runtime/bus/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "tests/unit/support/rig.h"

namespace wf::bus {
namespace {

class ArenaTest : public ::testing::Test {
 protected:
  void SetUp() override { arena_.Open(memory_, budget_, 4096 - 64); }
  test::TestMemory memory_;
  Budget budget_;
  Arena arena_;
};

TEST_F(ArenaTest, AlignsAndKeepsBlocksApart) {
  for (uint64_t align = 1; align <= 64; align *= 2) {
    auto* const block = static_cast<char*>(arena_.Allocate(7, align));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % align, 0U);
    std::memset(block, static_cast<int>(align), 7);
  }
}

TEST_F(ArenaTest, EveryBlockMayBeReadUpToTheNextMultipleOf64) {
  for (const uint64_t bytes : {1U, 63U, 65U, 3000U, 5000U, 200'000U, 1'500'000U}) {
    const auto* const block = static_cast<const volatile char*>(arena_.Allocate(bytes, 64));
    ASSERT_NE(block, nullptr);
    for (uint64_t i = 0; i < (bytes + 63) / 64 * 64; i += 63) (void)block[i];
  }
}

// A sanitized build sees whoever still reads what was given back, also where the memory is kept.
TEST_F(ArenaTest, WhatWasGivenBackIsPoisoned) {
#ifdef WF_ADDRESS_SANITIZER
  auto* const kept = static_cast<char*>(arena_.Allocate(100, 8));
  auto* const given = static_cast<char*>(arena_.Allocate(10'000, 8));
  ASSERT_NE(given, nullptr);
  EXPECT_EQ(__asan_region_is_poisoned(kept, 100), nullptr);
  arena_.Reset(true);
  EXPECT_EQ(__asan_address_is_poisoned(kept), 1);
  EXPECT_EQ(__asan_address_is_poisoned(given), 1);
  EXPECT_EQ(arena_.Allocate(100, 8), kept);
  EXPECT_EQ(__asan_region_is_poisoned(kept, 100), nullptr);
#else
  EXPECT_FALSE(base::kSeesPoison);
#endif
}

TEST_F(ArenaTest, WhatGrowsPieceByPieceTakesMemoryThatFollowsItsLength) {
  constexpr uint64_t kPiece = 10, kWhole = 2'000'000;
  auto* text = static_cast<char*>(arena_.Allocate(kPiece + Arena::kBehind, 1));
  ASSERT_NE(text, nullptr);
  std::memset(text, 'a', kPiece);
  int moves = 0;
  for (uint64_t used = kPiece; used < kWhole; used += kPiece) {
    auto* const grown = static_cast<char*>(arena_.Grow(text, used, used + kPiece));
    ASSERT_NE(grown, nullptr);
    if (grown != text) ++moves;
    text = grown;
    std::memset(text + used, 'a' + static_cast<char>(used / kPiece % 26), kPiece);
    for (uint64_t i = 0; i < Arena::kBehind; ++i) (void)static_cast<const volatile char*>(text)[used + kPiece + i];
  }
  for (uint64_t i = 0; i < kWhole; ++i) ASSERT_EQ(text[i], 'a' + static_cast<char>(i / kPiece % 26)) << i;
  EXPECT_LT(moves, 20);
  EXPECT_LT(arena_.held_bytes(), 8 * kWhole);
}

TEST_F(ArenaTest, SeveralBlocksGrowSideBySide) {
  constexpr uint64_t kWhole = 50'000;
  std::array<char*, 12> texts{};
  for (char*& text : texts) text = static_cast<char*>(arena_.Allocate(1 + Arena::kBehind, 1));
  for (uint64_t used = 1; used < kWhole; ++used) {
    for (char*& text : texts) {
      ASSERT_NE(arena_.Allocate(7, 1), nullptr);  // a piece
      text = static_cast<char*>(arena_.Grow(text, used, used + 1));
      ASSERT_NE(text, nullptr);
      text[used] = static_cast<char>('a' + (&text - texts.data()));
    }
  }
  for (char*& text : texts) EXPECT_EQ(std::count(text + 1, text + kWhole, 'a' + (&text - texts.data())), kWhole - 1);
  EXPECT_LT(arena_.held_bytes(), 12 * (4 + 7) * kWhole + (2U << 20));
}

TEST_F(ArenaTest, ATextGrowsByPiecesThatGrewThemselves) {
  constexpr uint64_t kPieces = 20'000, kPiece = 12;
  auto* text = static_cast<char*>(arena_.Allocate(1 + Arena::kBehind, 1));
  uint64_t used = 1;
  for (uint64_t i = 0; i < kPieces; ++i) {
    auto* piece = static_cast<char*>(arena_.Allocate(1 + Arena::kBehind, 1));
    std::memset(piece, 'p', 1);
    for (uint64_t length = 1; length < kPiece; ++length) {
      piece = static_cast<char*>(arena_.Grow(piece, length, length + 1));
      ASSERT_NE(piece, nullptr);
      piece[length] = 'p';
    }
    text = static_cast<char*>(arena_.Grow(text, used, used + kPiece));
    ASSERT_NE(text, nullptr) << i;
    std::memcpy(text + used, piece, kPiece);
    used += kPiece;
  }
  EXPECT_EQ(static_cast<uint64_t>(std::count(text + 1, text + used, 'p')), used - 1);
  EXPECT_LT(arena_.held_bytes(), kPieces * 1000);
}

TEST_F(ArenaTest, ABlockThatGrowsTwiceIsCopiedAndStays) {
  auto* base = static_cast<char*>(arena_.Allocate(5 + Arena::kBehind, 1));
  std::memcpy(base, "abcde", 5);
  base = static_cast<char*>(arena_.Grow(base, 5, 6));
  base = static_cast<char*>(arena_.Grow(base, 6, 7));
  std::memcpy(base + 5, "fg", 2);
  auto* const longer = static_cast<char*>(arena_.Grow(base, 7, 9));
  EXPECT_EQ(longer, base);
  std::memcpy(longer + 7, "hi", 2);
  auto* const other = static_cast<char*>(arena_.Grow(base, 7, 9));
  ASSERT_NE(other, base);
  std::memcpy(other + 7, "xy", 2);
  EXPECT_EQ(std::string_view(longer, 9), "abcdefghi");
  EXPECT_EQ(std::string_view(other, 9), "abcdefgxy");
}

TEST_F(ArenaTest, ABlockGrowsAsFarAsTheBudgetGoes) {
  budget_.left = 3000;
  ASSERT_EQ(arena_.Allocate(100 + Arena::kBehind, 1), nullptr) << "a chunk is 4096 bytes";
  budget_.left = 4096;
  const void* block = arena_.Allocate(100 + Arena::kBehind, 1);
  ASSERT_NE(block, nullptr);
  block = arena_.Grow(block, 100, 700);
  ASSERT_NE(block, nullptr);
  block = arena_.Grow(block, 700, 2000);  // without room for as many again
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(arena_.Grow(block, 2000, 5000), nullptr);
}

TEST_F(ArenaTest, TakesNothingWhileTheFirstChunkHasRoom) {
  for (int i = 0; i < 30; ++i) ASSERT_NE(arena_.Allocate(100, 8), nullptr);
  EXPECT_EQ(memory_.takes, 1);
}

TEST_F(ArenaTest, KeepsItsFirstChunkForTheNextRequest) {
  ASSERT_NE(arena_.Allocate(100, 8), nullptr);
  ASSERT_NE(arena_.Allocate(50'000, 8), nullptr);
  arena_.Reset(/*keep=*/true);
  EXPECT_EQ(memory_.held_bytes, 4096);
  ASSERT_NE(arena_.Allocate(100, 8), nullptr);
  EXPECT_EQ(memory_.takes, 2);
}

TEST_F(ArenaTest, RefusesBeyondTheBudgetAndGoesOnWithLess) {
  EXPECT_EQ(arena_.Allocate(Budget::kBytes, 64), nullptr);
  EXPECT_EQ(arena_.Allocate(UINT64_MAX - 10, 64), nullptr);
  EXPECT_NE(arena_.Allocate(1000, 64), nullptr);
  arena_.FreeAll();
  EXPECT_EQ(budget_.left.load(), Budget::kBytes);
}

TEST_F(ArenaTest, AnswersNullWhenMemoryIsRefused) {
  memory_.refuses = [] { return true; };
  EXPECT_EQ(arena_.Allocate(10, 8), nullptr);
  memory_.refuses = nullptr;
  EXPECT_NE(arena_.Allocate(10, 8), nullptr);
}

TEST_F(ArenaTest, TakesOverTheChunksOfAJob) {
  Arena job;
  job.Open(memory_, budget_, 4096 - 64);
  auto* const value = static_cast<char*>(job.Allocate(100, 8));
  std::memset(value, 5, 100);
  ASSERT_NE(arena_.Allocate(100, 8), nullptr);
  arena_.Splice(job);
  EXPECT_EQ(job.held_bytes(), 0U);
  ASSERT_NE(arena_.Allocate(100, 8), nullptr);  // still from its own chunk
  EXPECT_EQ(memory_.takes, 2);
  EXPECT_EQ(value[99], 5);
  arena_.FreeAll();
  EXPECT_EQ(memory_.held_bytes, 0);
}

}  // namespace
}  // namespace wf::bus
