#include "runtime/base/reserve.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "runtime/base/thread.h"
#include "tests/unit/support/few_pages.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::base {
namespace {

using std::chrono::milliseconds;
using test::mapped;
using test::most_mapped;

constexpr char kLine[] = "the process is out of memory, and its reserve is spent";
void* Nothing() { return nullptr; }

TEST(Reserve, AThreadOfUsersCodeDoesNotInsistButWhereTheProcessWorksForIt) {
  std::thread([] {
    EXPECT_EQ(Reserve::Insist(Nothing), nullptr);
    EXPECT_FALSE(Reserve::memory_is_short());
    {
      const Reserve::OwnWork here;
    }
    EXPECT_EQ(Reserve::Insist(Nothing), nullptr) << "as before";
  }).join();
  const auto work = [] {
    std::thread([] {
      const Reserve::OwnWork here;
      Reserve::Insist(Nothing);
    }).join();
  };
  EXPECT_EXIT(work(), testing::ExitedWithCode(1), kLine);
}

TEST(Reserve, AStartThatFindsNoMemoryEndsWithALine) {  // before another test begins to serve
  EXPECT_EXIT(Reserve::Insist(Nothing), testing::ExitedWithCode(1), kLine);
  EXPECT_EXIT(Thread("wf-some", [] { Reserve::Insist(Nothing); }).Join(), testing::ExitedWithCode(1), kLine);
}

TEST(Reserve, AStartWithoutHalfOfItIsTold) {  // before another test has all of it
  most_mapped = 0;
  size_t left = Reserve::kPieces / 2 - 1;  // of pieces that malloc has
  const std::function<bool()> fails = [&left] { return left == 0 || left-- == 0; };
  {
    const test::FailingAllocations failing(&fails);
    EXPECT_FALSE(Reserve::Keep());
    left = 1;
    EXPECT_TRUE(Reserve::Keep());
    EXPECT_TRUE(Reserve::Keep()) << "the second half is not taken from those who work";
  }
  most_mapped = SIZE_MAX;
}

TEST(Reserve, PiecesAreOfMallocWhereNoPagesAreLeft) {
  ASSERT_TRUE(Reserve::Keep());
  for (size_t i = 0; i < Reserve::kPieces; ++i) Reserve::MakeRoom(0);
  most_mapped = 0;
  {
    size_t left = Reserve::kPieces / 2;
    const std::function<bool()> fails = [&left] { return left == 0 || left-- == 0; };
    const test::FailingAllocations failing(&fails);
    EXPECT_FALSE(Reserve::Refill()) << "there is nothing beside them";
  }
  EXPECT_TRUE(Reserve::memory_is_short());
  EXPECT_FALSE(Reserve::is_nearly_spent()) << "half of it is there";
  for (size_t i = 0; i < Reserve::kPieces / 2; ++i) Reserve::MakeRoom(0);  // a sanitizer looks how they are freed
  EXPECT_TRUE(Reserve::is_nearly_spent());
  most_mapped = SIZE_MAX;
  EXPECT_TRUE(Reserve::Refill());
}

TEST(Reserve, MemoryIsShortUntilACallHasRoomBesideIt) {
  ASSERT_TRUE(Reserve::Keep());
  Reserve::MakeRoom(0);
  most_mapped = Reserve::kPieceBytes;
  const std::function<bool()> always = [] { return true; };
  const test::FailingAllocations failing(&always);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(Reserve::Refill());
    EXPECT_TRUE(Reserve::memory_is_short());
  }
  most_mapped = size_t{1} << 20;
  mapped = 0;
  EXPECT_TRUE(Reserve::Refill()) << "though the last piece would leave too little";
  EXPECT_EQ(mapped, size_t{1} << 20);
  most_mapped = SIZE_MAX;
}

TEST(Reserve, TheSecondHalfIsGivenToThoseWhoWork) {
  ASSERT_TRUE(Reserve::Keep());
  ASSERT_TRUE(Reserve::Keep());
  Reserve::NoteFailed(1);
  most_mapped = 0;
  size_t asked = 0;
  {
    const std::function<bool()> fails = [&asked] { return ++asked <= 3; };  // until as many pieces are free, more or less
    const test::FailingAllocations failing(&fails);
    EXPECT_TRUE(Reserve::Refill());
  }
  EXPECT_EQ(asked, 4U);
  most_mapped = SIZE_MAX;
  mapped = 0;
  EXPECT_FALSE(Reserve::Refill()) << "memory is not short";
  EXPECT_GE(mapped, 3 * Reserve::kPieceBytes) << "they are put by again once there is room";
}

TEST(Reserve, OneIsTriedWhereNothingHasFailedForAWhile) {
  ASSERT_TRUE(Reserve::Keep());
  most_mapped = 0;
  const std::function<bool()> always = [] { return true; };
  {
    const test::FailingAllocations failing(&always);
    Reserve::NoteFailed(1);
    for (int i = 1; i < Reserve::kCalmLooks; ++i) EXPECT_FALSE(Reserve::Refill()) << i;
    Reserve::NoteFailed(1);  // so that it begins anew
    for (int i = 1; i < Reserve::kCalmLooks; ++i) EXPECT_FALSE(Reserve::Refill()) << i;
    EXPECT_TRUE(Reserve::Refill());
    EXPECT_FALSE(Reserve::memory_is_short());
    Reserve::MakeRoom(0);  // less than half of it is left
    for (int i = 0; i < 3 * Reserve::kCalmLooks; ++i) EXPECT_FALSE(Reserve::Refill()) << i;
    EXPECT_TRUE(Reserve::memory_is_short());
  }
  most_mapped = SIZE_MAX;
  EXPECT_TRUE(Reserve::Refill());
}

TEST(Reserve, MemoryIsShortWhereALittleThatMayFailHas) {
  Reserve::NoteFailed(size_t{1} << 30);
  EXPECT_FALSE(Reserve::memory_is_short()) << "that much is nobody's share";
  Reserve::NoteFailed(size_t{64} << 10);
  EXPECT_TRUE(Reserve::memory_is_short());
  mapped = 0;
  EXPECT_TRUE(Reserve::Refill());
  EXPECT_GE(mapped, (size_t{2} << 20) + Reserve::kPieceBytes) << "a piece was given, for the refusal to be told";
}

TEST(Reserve, MemoryThatWasShortIsSoNoLongerOnceItIsPutBy) {
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
