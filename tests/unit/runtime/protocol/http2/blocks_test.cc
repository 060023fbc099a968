#include "runtime/protocol/http2/blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace wf::http2 {
namespace {

TEST(Blocks, AreUsedAgain) {
  Blocks blocks;
  void* const first = blocks.Take(100);
  blocks.Give(first);
  EXPECT_EQ(blocks.kept_bytes(), 128U);
  EXPECT_EQ(blocks.Take(65), first);
  EXPECT_EQ(blocks.kept_bytes(), 0U);
  blocks.Give(first);
}

TEST(Held, KeepsWhatIsInABlockThatGrows) {
  Blocks blocks;
  Held held(blocks);
  auto* block = static_cast<char*>(held.Resize(nullptr, 10));
  std::memcpy(block, "123456789", 10);
  for (const size_t bytes : {size_t{64}, size_t{65}, size_t{5000}, size_t{100'000}, size_t{1} << 20}) {
    block = static_cast<char*>(held.Resize(block, bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_STREQ(block, "123456789");
    block[bytes - 1] = 'x';
  }
  held.Give(block);
}

TEST(Held, GivesAllBackThatWasNotGivenBack) {
  Blocks blocks;
  Held one(blocks), other(blocks);
  void* taken[5];
  for (void*& block : taken) block = one.Take(64);
  void* const others = other.Take(64);
  for (const int given : {2, 4, 0}) one.Give(taken[given]);
  EXPECT_EQ(blocks.kept_bytes(), 3 * 64U);
  one.GiveAll();
  EXPECT_EQ(blocks.kept_bytes(), 5 * 64U);
  one.GiveAll();
  other.Give(others);
  EXPECT_EQ(blocks.kept_bytes(), 6 * 64U);
}

TEST(Blocks, KeepABoundedAmount) {
  Blocks blocks;
  std::vector<void*> taken;
  for (int i = 0; i < 1000; ++i) taken.push_back(blocks.Take(32 * 1024));
  for (void* const block : taken) blocks.Give(block);
  EXPECT_EQ(blocks.kept_bytes(), Blocks::kMaxKeptBytes);
  blocks.Give(blocks.Take(Blocks::kMaxBlockBytes + 1));
  EXPECT_EQ(blocks.kept_bytes(), Blocks::kMaxKeptBytes);
  blocks.Give(nullptr);
}

}  // namespace
}  // namespace wf::http2
