#include "runtime/kernels/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace wf::kernels {
namespace {

bool IsZero(const uint8_t* memory, int64_t bytes) {
  return std::all_of(memory, memory + bytes, [](uint8_t byte) { return byte == 0; });
}
bool IsAligned(const std::shared_ptr<uint8_t>& memory, int64_t to) {
  return reinterpret_cast<uintptr_t>(memory.get()) % static_cast<uintptr_t>(to) == 0;
}

TEST(Memory, IsZeroAlignedAndReadableToTheNext64Bytes) {
  for (const int64_t bytes : {0, 1, 63, 64, 65, 131071, 131072, 131073, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20}) {
    const auto memory = Allocate(bytes);
    ASSERT_NE(memory, nullptr) << bytes;
    EXPECT_TRUE(IsAligned(memory, bytes >= 2 << 20 ? 2 << 20 : kAlign)) << bytes;
    EXPECT_TRUE(IsZero(memory.get(), std::max(Aligned(bytes), kAlign))) << bytes;
    std::fill_n(memory.get(), bytes, uint8_t{1});
  }
}

TEST(Memory, ThatThereIsNotIsNull) { EXPECT_EQ(Allocate(int64_t{1} << 60), nullptr); }

// Of the mappings that are files.
int64_t ResidentFileBytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssFile:")) return std::stoll(line.substr(8)) << 10;
  }
  return -1;
}

TEST(Memory, CodeThatIsLetGoOfLeavesTheResidentSetAndRunsAgain) {
  std::ostringstream locale;  // of a library
  locale << 1.5;
  const int64_t before = ResidentFileBytes();
  LetGoOfCode();
  const int64_t after = ResidentFileBytes();
  EXPECT_LT(after, before - (before >> 2));
  locale << 2.5;
  EXPECT_EQ(locale.str(), "1.52.5");
}

TEST(PackedMemory, GivesPiecesThatLieApartAndOutliveIt) {
  std::vector<std::pair<std::shared_ptr<uint8_t>, int64_t>> taken;
  {
    PackedMemory memory;
    for (int i = 0; i < 40; ++i) {
      const int64_t bytes = i % 7 == 6 ? 3 << 20 : 1 + 50'000 * int64_t{i};
      taken.emplace_back(memory.Take(bytes), bytes);
      ASSERT_NE(taken.back().first, nullptr);
      EXPECT_TRUE(IsAligned(taken.back().first, kAlign));
      EXPECT_TRUE(IsZero(taken.back().first.get(), bytes));
      std::fill_n(taken.back().first.get(), bytes, static_cast<uint8_t>(i + 1));
    }
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    const auto& [piece, bytes] = taken[i];
    EXPECT_TRUE(std::all_of(piece.get(), piece.get() + bytes, [i](uint8_t byte) { return byte == i + 1; })) << i;
  }
}

TEST(PackedMemory, TriesAgainAfterThereWasNone) {
  PackedMemory memory;
  EXPECT_EQ(memory.Take(int64_t{1} << 60), nullptr);
  EXPECT_NE(memory.Take(100), nullptr);
}

}  // namespace
}  // namespace wf::kernels
