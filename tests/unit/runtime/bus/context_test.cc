#include "runtime/bus/context.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "runtime/abi/view.h"
#include "runtime/bus/instance.h"
#include "tests/unit/runtime/bus/context_rig.h"

namespace wf::bus {
namespace {

wf_bytes Text(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

class ContextTest : public ContextRig {};

TEST_F(ContextTest, TheFirstFailureStandsAndItsTextIsCopied) {
  std::string text = "the first";
  EXPECT_EQ(wf_fail(bus_.ctx(), 100001, 12, Text(text)), WF_FAILED);
  text = "overwritten";
  EXPECT_EQ(wf_fail(bus_.ctx(), 100002, 13, Text("the second")), WF_FAILED);
  const Failure& failure = bus_.main.TakeFailure(WF_FAILED);
  EXPECT_EQ(failure.code, 100001);
  EXPECT_EQ(failure.site, 12U);
  EXPECT_EQ(failure.message, "the first");
  EXPECT_EQ(bus_.main.failure, nullptr);
}

TEST_F(ContextTest, WhatAFailureSaysIsUtf8) {
  EXPECT_EQ(wf_fail(bus_.ctx(), 100001, 0, Text("caf\xe9, \xe2\x82, €\xff")), WF_FAILED);
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).message, "caf?, ??, €?");
}

TEST_F(ContextTest, ACodeReturnedWithoutARecordIsAFailureToo) {
  EXPECT_EQ(bus_.main.TakeFailure(7003).code, 7003);
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, code::kUnknown);
}

TEST_F(ContextTest, SpentMemoryIsAFailure) {
  EXPECT_EQ(wf_alloc(bus_.ctx(), Budget::kBytes + 1, 8), nullptr);
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, code::kMemoryCap);
  EXPECT_EQ(wf_alloc(bus_.ctx(), Budget::kBytes, 8), nullptr) << "a chunk is more than what it holds";
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, code::kMemoryCap);
}

TEST_F(ContextTest, WhatFailsWhileResultsAreWrittenIsTheWorkflows) {
  const uint16_t node = 1;
  wf_region root = classify_plan.regions[0];
  root.node = node;
  wf_plan plan = classify_plan;
  plan.regions = &root;
  bus_.plan_ = &plan;
  bus_.workflow_ = plan.workflows;
  EXPECT_EQ(bus_.main.Fail(code::kInference, 0, "before").node, WF_NONE);
  bus_.main.failure = nullptr;
  bus_.state_ = BusState::kAnswered;
  const Failure& failure = bus_.main.Fail(code::kInference, 0, "a result has no text");
  EXPECT_EQ(failure.node, node);
  EXPECT_EQ(bus_.PathOf(failure), abi::View(plan.nodes[node].path));
}

// Who took the last of it decides where it runs out, not whether the place is told.
TEST_F(ContextTest, WhoMeetsSpentMemoryIsNamed) {
  ASSERT_NE(classify_plan.tasks[0].node, WF_NONE);
  while (bus_.arena.Allocate(1 << 20, 8) != nullptr) {
  }
  while (bus_.arena.Allocate(8, 8) != nullptr) {
  }
  for (int i = 0; i < 1000; ++i) {
    bus_.main.task = 0;
    ASSERT_EQ(wf_alloc(bus_.ctx(), 100'000, 8), nullptr);
    const Failure& failure = bus_.main.TakeFailure(WF_FAILED);
    ASSERT_EQ(failure.code, code::kMemoryCap);
    ASSERT_EQ(failure.message, kOutOfMemory.message);
    ASSERT_EQ(failure.node, classify_plan.tasks[0].node) << i;
  }
  EXPECT_EQ(wf_fail(bus_.ctx(), 100001, 12, Text("of the program")), WF_FAILED);
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).message, "of the program");
  EXPECT_GE(bus_.budget.left, -Budget::kSpareBytes);
}

TEST_F(ContextTest, WhatIsKeptToReportIsBoundedToo) {
  for (const uint64_t bytes : {500, 8}) {
    while (bus_.arena.AllocateToReport(bytes, 8) != nullptr) {
    }
  }
  EXPECT_GE(bus_.budget.left, -Budget::kSpareBytes);
  bus_.main.task = 0;
  EXPECT_EQ(wf_alloc(bus_.ctx(), 100'000, 8), nullptr);
  EXPECT_EQ(&bus_.main.TakeFailure(WF_FAILED), &kOutOfMemory);
}

TEST_F(ContextTest, MemoryThatOthersHoldIsRefusedForLoad) {
  memory_.refuses = [] { return true; };
  EXPECT_EQ(wf_alloc(bus_.ctx(), 100'000, 8), nullptr);
  const Failure& failure = bus_.main.TakeFailure(WF_FAILED);
  EXPECT_EQ(failure.code, code::kRefused);
  EXPECT_TRUE(failure.for_memory);
}

TEST_F(ContextTest, WhatALibraryTakesCountsUntilItIsGivenBack) {
  const int64_t left = bus_.budget.left;
  ASSERT_EQ(wf_claim(bus_.ctx(), 200 << 20), 1);
  EXPECT_EQ(bus_.budget.left, left - (200 << 20));
  EXPECT_EQ(wf_alloc(bus_.ctx(), 100 << 20, 8), nullptr);
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, code::kMemoryCap);
  for (const uint64_t bytes : {uint64_t{100} << 20, uint64_t{1} << 40, UINT64_MAX}) {
    EXPECT_EQ(wf_claim(bus_.ctx(), bytes), 0);
    EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, code::kMemoryCap);
  }
  const int64_t before = bus_.budget.left;  // what was told took a little
  wf_unclaim(bus_.ctx(), 200 << 20);
  EXPECT_EQ(bus_.budget.left, before + (200 << 20));
}

TEST_F(ContextTest, WhatALibraryTakesIsOfTheMemoryOfAll) {
  const ChunkMemory all(1 << 20);
  bus_.budget.StartWith(all);
  Arena arena;
  ChunkMemory shared(1 << 20);
  arena.Open(shared, bus_.budget, 64);
  ASSERT_TRUE(arena.Claim(400'000));
  EXPECT_EQ(shared.in_use_bytes(), 400'000);
  ASSERT_TRUE(shared.Claim(500'000));
  EXPECT_FALSE(arena.Claim(400'000));
  EXPECT_EQ(WhyRefused(bus_.budget).code, code::kRefused);  // for load
  EXPECT_EQ(shared.in_use_bytes(), 900'000);
  arena.Unclaim(400'000);
  EXPECT_EQ(shared.in_use_bytes(), 500'000);
  shared.Unclaim(500'000);
}

TEST_F(ContextTest, NoRequestHasMoreThanAllTogether) {
  const ChunkMemory small(1 << 20);
  bus_.budget.StartWith(small);
  EXPECT_EQ(wf_alloc(bus_.ctx(), 2 << 20, 8), nullptr);
  EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, code::kMemoryCap);
}

TEST_F(ContextTest, OutFillsDataAndStridesFromTheDims) {
  alignas(64) std::byte frame[1024] = {};
  void* const frames[] = {frame};
  auto& tensor = *reinterpret_cast<wf_tensor*>(frame + classify_plan.slots[1].offset);
  tensor.dtype = WF_F32;
  tensor.rank = 3;
  tensor.dim[0] = 2;
  tensor.dim[1] = 3;
  tensor.dim[2] = 5;
  ASSERT_EQ(wf_out(bus_.ctx(), frames, 1), 0);
  EXPECT_EQ(tensor.stride[0], 15);
  EXPECT_EQ(tensor.stride[1], 5);
  EXPECT_EQ(tensor.stride[2], 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data) % 64, 0U);
  std::memset(tensor.data, 1, 128);  // 120 bytes, readable and ours to the next multiple of 64
}

TEST_F(ContextTest, OutPutsInFrameDataIntoTheFrame) {
  alignas(64) std::byte frame[1024] = {};
  void* const frames[] = {frame};
  auto& tensor = *reinterpret_cast<wf_tensor*>(frame + classify_plan.slots[3].offset);
  tensor.dtype = WF_F32;
  tensor.rank = 1;
  tensor.dim[0] = 2;
  ASSERT_EQ(wf_out(bus_.ctx(), frames, 3), 0);
  EXPECT_EQ(tensor.data, frame + classify_plan.slots[3].data);
}

TEST_F(ContextTest, OutRefusesExtentsThatNoMemoryHolds) {
  alignas(64) std::byte frame[1024] = {};
  void* const frames[] = {frame};
  auto& tensor = *reinterpret_cast<wf_tensor*>(frame + classify_plan.slots[1].offset);
  tensor.dtype = WF_F32;
  tensor.rank = 2;
  constexpr std::pair<int64_t, wf_code> kCases[] = {
      {-1, code::kDimension}, {INT64_C(1) << 29, code::kMemoryCap}, {INT64_C(1) << 40, code::kMemoryCap}};
  for (const auto& [extent, wanted] : kCases) {
    tensor.dim[0] = tensor.dim[1] = extent;
    EXPECT_EQ(wf_out(bus_.ctx(), frames, 1), WF_FAILED) << extent;
    EXPECT_EQ(bus_.main.TakeFailure(WF_FAILED).code, wanted) << extent;
  }
}

TEST_F(ContextTest, MetadataIsFoundByItsKey) {
  const Metadata entries[] = {{"lang", "de"}, {"threshold", "0.5"}, {"Own", "1"}};
  bus_.metadata = entries;
  wf_bytes value{};
  EXPECT_EQ(wf_meta(bus_.ctx(), Text("threshold"), &value), 1);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(value.ptr), value.len), "0.5");
  EXPECT_EQ(wf_meta(bus_.ctx(), Text("thresh"), &value), 0);
  EXPECT_EQ(wf_meta(bus_.ctx(), Text("Threshold"), &value), 1);  // a header, whose name has no capitals
  EXPECT_EQ(wf_meta(bus_.ctx(), Text("Own"), &value), 1);
  EXPECT_EQ(wf_meta(bus_.ctx(), Text("own"), &value), 0);
}

TEST_F(ContextTest, AnnotationsAreKeptNewestFirst) {
  ASSERT_EQ(wf_annotate(bus_.ctx(), Text("a"), Text("1")), 0);
  ASSERT_EQ(wf_annotate(bus_.ctx(), Text("b"), Text("2")), 0);
  ASSERT_NE(bus_.annotations(), nullptr);
  EXPECT_EQ(bus_.annotations()->key, "b");
  EXPECT_EQ(bus_.annotations()->next->value, "1");
}

}  // namespace
}  // namespace wf::bus
