#include "runtime/base/reserve.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace wf::base {
namespace {

using std::chrono::milliseconds;

constexpr char kLine[] = "the process is out of memory, and its reserve is spent";
void* Nothing() { return nullptr; }

TEST(Reserve, AStartThatFindsNoMemoryEndsWithALine) {  // before another test begins to serve
  EXPECT_EXIT(Reserve::Insist(Nothing), testing::ExitedWithCode(1), kLine);
}

TEST(Reserve, IsGivenUpOnceAndPutByAgain) {
  ASSERT_TRUE(Reserve::Keep());
  EXPECT_FALSE(Reserve::memory_is_short());
  EXPECT_FALSE(Reserve::Refill());
  for (int i = 0; i < 3; ++i) {
    Reserve::MakeRoom(0);
    EXPECT_TRUE(Reserve::memory_is_short());
    EXPECT_TRUE(Reserve::Refill());
    EXPECT_FALSE(Reserve::memory_is_short());
  }
}

TEST(Reserve, GoesPieceByPiece) {
  ASSERT_TRUE(Reserve::Keep());
  for (size_t left = Reserve::kPieces; left > Reserve::kPieces / 4; --left) {
    EXPECT_FALSE(Reserve::is_nearly_spent()) << left;
    Reserve::MakeRoom(0);
  }
  EXPECT_FALSE(Reserve::is_nearly_spent());
  Reserve::MakeRoom(0);
  EXPECT_TRUE(Reserve::is_nearly_spent());
  EXPECT_TRUE(Reserve::Refill());
  EXPECT_FALSE(Reserve::is_nearly_spent());
}

TEST(Reserve, AnAllocationThatFailsForAWhileIsWaitedFor) {
  ASSERT_TRUE(Reserve::Keep());
  Reserve::BeginServing();
  const auto until = std::chrono::steady_clock::now() + milliseconds(30);
  void* const memory = Reserve::Insist([until] { return std::chrono::steady_clock::now() < until ? nullptr : std::malloc(1); });
  EXPECT_NE(memory, nullptr);
  EXPECT_GE(std::chrono::steady_clock::now(), until);
  EXPECT_TRUE(Reserve::memory_is_short());
  EXPECT_TRUE(Reserve::Refill());
  std::free(memory);
}

TEST(Reserve, TheEndIsALine) {
  EXPECT_EXIT(
      {
        Reserve::BeginServing();
        Reserve::Insist(Nothing);
      },
      testing::KilledBySignal(SIGABRT), kLine);
}

}  // namespace
}  // namespace wf::base
