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

TEST(Blocks, KeepWhatIsInThemWhenTheyGrow) {
  Blocks blocks;
  auto* block = static_cast<char*>(blocks.Resize(nullptr, 10));
  std::memcpy(block, "123456789", 10);
  for (const size_t bytes : {size_t{64}, size_t{65}, size_t{5000}, size_t{100'000}, size_t{1} << 20}) {
    block = static_cast<char*>(blocks.Resize(block, bytes));
    ASSERT_NE(block, nullptr);
    EXPECT_STREQ(block, "123456789");
    block[bytes - 1] = 'x';
  }
  blocks.Give(block);
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
