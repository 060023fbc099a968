// What a sink says of memory that there is none of.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/base/reserve.h"
#include "runtime/base/sink.h"
#include "tests/unit/support/few_pages.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::base {
namespace {

class SinkMemory : public ::testing::Test {
 protected:
  void SetUp() override { wf_sink::DropKept(); }
  void TearDown() override {
    test::most_mapped = SIZE_MAX;
    Reserve::Refill();
  }
};

TEST_F(SinkMemory, WhereMallocHasNoneAShortTextFailsForIt) {
  wf_sink sink, behind;
  const std::function<bool()> always = [] { return true; };
  {
    const test::FailingAllocations failing(&always);
    EXPECT_FALSE(sink.Put("x"));
  }
  EXPECT_TRUE(sink.failed());
  EXPECT_EQ(sink.failure(), SinkFailure::kNoMemory);
  EXPECT_TRUE(Reserve::memory_is_short());
  EXPECT_FALSE(sink.Put("x")) << "until it is cleared";
  EXPECT_EQ(sink.failure(), SinkFailure::kNoMemory);
  EXPECT_FALSE(behind.Append(sink));
  EXPECT_EQ(behind.failure(), SinkFailure::kNoMemory) << "it goes on with what is moved";
  behind.Clear();
  EXPECT_FALSE(behind.AppendFirst(sink, 0));
  EXPECT_EQ(behind.failure(), SinkFailure::kNoMemory);
  sink.Clear();
  EXPECT_EQ(sink.failure(), SinkFailure::kNone);
  EXPECT_TRUE(sink.Put("x"));
}

TEST_F(SinkMemory, WhereThereAreNoPagesALongTextFailsForIt) {
  const std::string text(1'000'000, 'x');
  wf_sink sink;
  test::most_mapped = 0;
  EXPECT_FALSE(sink.Put(text));
  EXPECT_EQ(sink.failure(), SinkFailure::kNoMemory);
  EXPECT_GE(sink.size(), wf_sink::kSmallBytes);
  sink.Clear();
  test::most_mapped = SIZE_MAX;
  EXPECT_TRUE(sink.Put(text));
}

class NoBytes final : public MemoryLimit {
 public:
  bool Claim(int64_t) noexcept override { return false; }
  void Unclaim(int64_t) noexcept override {}
};

TEST_F(SinkMemory, ALimitThatLeavesNoneIsTheSame) {
  NoBytes limit;
  MemoryClaim claim;
  const SinkScope scope(limit, &claim);
  wf_sink sink;
  EXPECT_FALSE(sink.Put(std::string(1'000'000, 'x')));
  EXPECT_EQ(sink.failure(), SinkFailure::kNoMemory);
  EXPECT_GT(scope.lacked_bytes(), 0);
}

TEST_F(SinkMemory, ATextThatIsTooLongOrUnwantedLacksNone) {
  const std::string text(wf_sink::kMaxBytes + wf_sink::kMaxReserve, 'x');
  wf_sink sink;
  while (sink.Put(text)) {
  }
  EXPECT_EQ(sink.failure(), SinkFailure::kTooLong);
  sink.Clear();
  NoBytes limit;
  MemoryClaim claim;
  const std::atomic<bool> stop{true};
  const UntilStopped wanted(stop);
  const SinkScope scope(limit, &claim, &wanted);
  EXPECT_FALSE(sink.Put("x"));
  EXPECT_EQ(sink.failure(), SinkFailure::kUnwanted);
}

}  // namespace
}  // namespace wf::base
