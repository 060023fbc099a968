// The memory of folds, through the functions that generated code calls.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/abi/view.h"
#include "runtime/base/poison.h"
#include "runtime/bus/bus.h"
#include "tests/unit/runtime/bus/context_rig.h"

namespace wf::bus {
namespace {

constexpr int64_t kOpen[] = {-1};
constexpr wf_field kFields[] = {{.name = {}, .offset = 0, .type = 2, .reserved = 0},
                                {.name = {}, .offset = 16, .type = 3, .reserved = 0},
                                {.name = {}, .offset = 160, .type = 4, .reserved = 0}};
enum TypeRow : uint32_t { kNumber, kText, kTexts, kTensor, kMaybe, kRecord };
constexpr wf_type kTypes[] = {
    {.kind = WF_T_SCALAR, .dtype = WF_I64, .size = 8, .align = 8},
    {.kind = WF_T_STRING, .size = 16, .align = 8},
    {.kind = WF_T_LIST, .element = kText, .size = 16, .align = 8},
    {.kind = WF_T_TENSOR, .dtype = WF_U8, .rank = 1, .size = sizeof(wf_tensor), .align = 8, .dim = kOpen},
    {.kind = WF_T_OPTIONAL, .element = kText, .size = 24, .align = 8, .has_offset = 16},
    {.kind = WF_T_RECORD, .n_fields = 3, .size = 184, .align = 8, .fields = kFields},
};
struct Record {
  wf_list texts;
  wf_tensor tensor;
  wf_bytes text;
  uint8_t has = 0;
};

class FoldTest : public ContextRig {
 protected:
  wf_ctx* ctx() { return bus_.ctx(); }
  wf_bytes Text(std::string_view text) {
    auto* const copy = static_cast<uint8_t*>(wf_alloc(ctx(), text.size() + 64, 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }
  wf_tensor Tensor(uint64_t bytes, int value) {
    wf_tensor tensor{.data = wf_alloc(ctx(), bytes, WF_ALIGN), .dtype = WF_U8, .rank = 1};
    tensor.dim[0] = static_cast<int64_t>(bytes);
    tensor.stride[0] = 1;
    if (bytes != 0) std::memset(tensor.data, value, bytes);
    return tensor;
  }
  wf_list List(std::initializer_list<wf_bytes> texts) {
    auto* const items = static_cast<wf_bytes*>(wf_alloc(ctx(), texts.size() * sizeof(wf_bytes), alignof(wf_bytes)));
    std::copy(texts.begin(), texts.end(), items);
    return {items, texts.size()};
  }
  static std::string_view Item(const wf_list& list, size_t i) { return abi::View(static_cast<const wf_bytes*>(list.ptr)[i]); }
  bool Keep(wf_fold& fold, TypeRow type, void* value) { return wf_fold_keep(ctx(), &fold, kTypes, type, value) == 1; }
};

TEST_F(FoldTest, WhatTurnsAllocatedMovesAndTheRestStays) {
  const wf_bytes before = Text("there before the fold");
  wf_fold fold;
  ASSERT_EQ(wf_fold_begin(ctx(), &fold), 0);
  const wf_bytes made = Text("made by a turn");
  Record record{.texts = List({before, made, made, {before.ptr, 5}}), .tensor = Tensor(3000, 7), .text = Text("maybe"), .has = 1};
  const Record old = record;
  ASSERT_TRUE(Keep(fold, kRecord, &record));
  EXPECT_NE(record.texts.ptr, old.texts.ptr);
  EXPECT_NE(record.tensor.data, old.tensor.data);
  EXPECT_EQ(Item(record.texts, 0).data(), abi::View(before).data());
  EXPECT_EQ(Item(record.texts, 1), "made by a turn");
  EXPECT_EQ(Item(record.texts, 2), "made by a turn");
  EXPECT_EQ(Item(record.texts, 3), "there");
  EXPECT_EQ(abi::View(record.text), "maybe");
  const auto* const bytes = static_cast<const char*>(record.tensor.data);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % WF_ALIGN, 0U);
  EXPECT_EQ(std::count(bytes, bytes + 3000, 7), 3000);
}

TEST_F(FoldTest, NothingLiesBetweenWhatStays) {
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  const size_t before = bus_.arena.used_bytes();
  for (int i = 0; i < 100; ++i) Text(std::string(500, 'g'));
  Record record{.texts = List({Text("a"), Text("b")}), .tensor = Tensor(100, 1), .text = {}, .has = 0};
  ASSERT_TRUE(Keep(fold, kRecord, &record));
  EXPECT_LT(bus_.arena.used_bytes(), before + 300);
  EXPECT_EQ(Item(record.texts, 1), "b");
  EXPECT_EQ(memory_.held_bytes, 4096);
}

TEST_F(FoldTest, OptionalsWithoutAValueAreNotLookedInto) {
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  Record record{.texts = {}, .tensor = Tensor(0, 0), .text = {reinterpret_cast<const uint8_t*>(8), UINT64_MAX}, .has = 0};
  EXPECT_TRUE(Keep(fold, kRecord, &record));
}

TEST_F(FoldTest, TurnsWithoutEndTakeABoundedAmount) {
  wf_bytes text = Text("");
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  int64_t most = 0;
  for (int turn = 0; turn < 100'000; ++turn) {
    Text(std::string(300, 'x'));
    text = Text("turn " + std::to_string(turn));
    if (wf_fold_is_full(ctx(), &fold, 0) == 1) {
      ASSERT_TRUE(Keep(fold, kText, &text));
    }
    most = std::max(most, memory_.held_bytes);
    ASSERT_EQ(abi::View(text), "turn " + std::to_string(turn));
  }
  EXPECT_LT(most, 300'000);
  EXPECT_EQ(wf_fold_is_full(ctx(), &fold, 1), 1);
  ASSERT_TRUE(Keep(fold, kText, &text));
  EXPECT_LT(bus_.arena.used_bytes(), 4096U);
  EXPECT_EQ(wf_fold_is_full(ctx(), &fold, 1), 0);
  EXPECT_EQ(bus_.main.failure, nullptr);
}

TEST_F(FoldTest, WhatIsSharedStaysShared) {
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  const wf_bytes shared = Text(std::string(50'000, 's'));
  wf_list list = List({shared, shared, {shared.ptr, 100}, shared, shared, shared, shared, shared});
  const size_t before = bus_.arena.used_bytes();
  ASSERT_TRUE(Keep(fold, kTexts, &list));
  EXPECT_LT(bus_.arena.used_bytes(), before + 60'000);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(Item(list, i).data(), Item(list, 0).data());
  EXPECT_EQ(Item(list, 2), std::string(100, 's'));
}

TEST_F(FoldTest, LargeBlocksAreNotCopied) {
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  Record record{.texts = {}, .tensor = Tensor(3'000'000, 1), .text = {}, .has = 0};
  for (int turn = 0; turn < 200; ++turn) {
    record.tensor = Tensor(3'000'000, turn % 100);
    const void* const data = record.tensor.data;
    if (wf_fold_is_full(ctx(), &fold, 0) == 0) continue;
    ASSERT_TRUE(Keep(fold, kRecord, &record));
    EXPECT_EQ(record.tensor.data, data);
    EXPECT_LT(memory_.held_bytes, 4'000'000);
  }
  EXPECT_EQ(static_cast<const char*>(record.tensor.data)[2'999'999], 99);
  EXPECT_EQ(bus_.main.failure, nullptr);
}

TEST_F(FoldTest, WithoutMemoryToMoveToNothingChanges) {
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  const Record record{.texts = List({Text("first"), Text(std::string(40'000, 'l'))}), .tensor = Tensor(100'000, 3), .text = {}, .has = 0};
  const int64_t held = memory_.held_bytes;
  for (int allowed = 0; allowed < 3; ++allowed) {
    int asked = 0;
    memory_.refuses = [&] { return asked++ >= allowed; };
    Record value = record;
    if (Keep(fold, kRecord, &value)) break;
    EXPECT_EQ(memory_.held_bytes, held);
    EXPECT_EQ(Item(record.texts, 0), "first");
    EXPECT_EQ(Item(record.texts, 1), std::string(40'000, 'l'));
    EXPECT_EQ(static_cast<const char*>(record.tensor.data)[99'999], 3);
  }
  memory_.refuses = nullptr;
  Record value = record;
  ASSERT_TRUE(Keep(fold, kRecord, &value));
  EXPECT_EQ(Item(value.texts, 1), std::string(40'000, 'l'));
  EXPECT_EQ(bus_.main.failure, nullptr);
}

TEST_F(FoldTest, AFoldWithinAnotherLeavesTheOuterOnesMemory) {
  wf_fold outer, inner;
  wf_fold_begin(ctx(), &outer);
  const wf_bytes kept = Text("of the outer turn");
  wf_fold_begin(ctx(), &inner);
  wf_list list = List({kept, Text("of the inner turn")});
  for (int i = 0; i < 1000; ++i) Text(std::string(500, 'g'));
  ASSERT_TRUE(Keep(inner, kTexts, &list));
  EXPECT_EQ(Item(list, 0).data(), abi::View(kept).data());
  EXPECT_EQ(Item(list, 1), "of the inner turn");
  ASSERT_TRUE(Keep(outer, kTexts, &list));
  EXPECT_NE(Item(list, 0).data(), abi::View(kept).data() + 1);
  EXPECT_EQ(Item(list, 0), "of the outer turn");
  EXPECT_EQ(Item(list, 1), "of the inner turn");
}

TEST_F(FoldTest, TextsGrowInTimeThatFollowsTheirLengthAlthoughTheyMove) {
  wf_bytes text = Text("begin");
  std::string wanted = "begin";
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  int64_t most = 0;
  int moves = 0;
  for (int turn = 0; turn < 200'000; ++turn) {
    auto* const grown = static_cast<uint8_t*>(wf_grow(ctx(), text.ptr, text.len, text.len + 10));
    std::memcpy(grown + text.len, "0123456789", 10);
    text = {grown, text.len + 10};
    wanted += "0123456789";
    most = std::max(most, memory_.held_bytes);
    if (wf_fold_is_full(ctx(), &fold, 0) == 0) continue;
    ++moves;
    ASSERT_TRUE(Keep(fold, kText, &text));
  }
  EXPECT_EQ(abi::View(text), wanted);
  EXPECT_LT(moves, 40);
  EXPECT_LT(most, 10 * static_cast<int64_t>(wanted.size()));
}

// A sanitized build sees whoever still reads what was given back.
TEST_F(FoldTest, WhatWasGivenBackIsPoisoned) {
#ifdef WF_ADDRESS_SANITIZER
  wf_fold fold;
  wf_fold_begin(ctx(), &fold);
  Text(std::string(1000, 'g'));
  wf_bytes text = Text("text");
  const uint8_t* const old = text.ptr;
  ASSERT_TRUE(Keep(fold, kText, &text));
  EXPECT_EQ(__asan_address_is_poisoned(old), 1);
  EXPECT_EQ(__asan_region_is_poisoned(const_cast<uint8_t*>(text.ptr), text.len), nullptr);
#else
  EXPECT_FALSE(base::kSeesPoison);
#endif
}

}  // namespace
}  // namespace wf::bus
