#include "runtime/base/sink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace wf::base {
namespace {

constexpr size_t kBlock = SinkBlock::kSmall - sizeof(SinkBlock);

std::string TextOf(wf_sink& sink) {
  std::string text;
  for (const SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

std::string Numbers(size_t bytes) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += std::to_string(i) + " ";
  text.resize(bytes);
  return text;
}

TEST(Sink, TheFirstBytesMoveInPortionsOfAnySize) {
  const std::string text = Numbers(100'000);
  for (const size_t portion : {size_t{1000}, size_t{5000}, kBlock, size_t{50'000}, size_t{100'000}}) {
    wf_sink from, to;
    ASSERT_TRUE(from.Put(text.data(), text.size()));
    std::string expected;
    for (size_t at = 0; at < text.size(); at += portion) {
      const size_t bytes = std::min(portion, text.size() - at);
      ASSERT_TRUE(to.Put("[", 1) && to.AppendFirst(from, bytes));
      expected += "[" + text.substr(at, bytes);
      ASSERT_EQ(to.size() + from.size(), expected.size() + text.size() - at - bytes);
    }
    EXPECT_TRUE(from.empty());
    EXPECT_EQ(TextOf(to), expected);
    to.Consume(expected.size());
    EXPECT_TRUE(to.empty());
  }
}

TEST(Sink, WholeBlocksMoveByReference) {
  wf_sink from, to;
  const std::string text = Numbers(3 * kBlock);
  ASSERT_TRUE(from.Put(text.data(), text.size()));
  const uint8_t* const first = from.Pieces()[0].data;
  ASSERT_TRUE(to.AppendFirst(from, kBlock));
  EXPECT_EQ(to.Pieces()[0].data, first);
  EXPECT_EQ(TextOf(to), text.substr(0, kBlock));
  EXPECT_EQ(TextOf(from), text.substr(kBlock));
}

// Whichever is dropped first: the block is used again only when neither holds it.
TEST(Sink, ATextReplacesAnotherWithoutMemory) {
  for (const size_t bytes : {size_t{0}, size_t{10}, 3 * kBlock, wf_sink::kSmallBytes * 3}) {
    wf_sink from, to;
    const std::string text = Numbers(bytes), before = Numbers(2 * kBlock);
    ASSERT_TRUE(from.Put(text) && to.Put(before));
    const auto pieces = from.Pieces();
    const std::vector<SinkPiece> moved(pieces.begin(), pieces.end());
    to.Replace(from);
    EXPECT_TRUE(from.empty() && from.block_bytes() == 0);
    EXPECT_EQ(TextOf(to), text);
    EXPECT_EQ(to.size(), bytes);
    for (size_t i = 0; i < moved.size(); ++i) EXPECT_EQ(to.Pieces()[i].data, moved[i].data) << "not a copy";
    EXPECT_TRUE(to.Put(before) && from.Put(before));
    EXPECT_EQ(TextOf(to), text + before);
  }
}

TEST(Sink, PartsOfABlockMoveByReferenceAndKeepIt) {
  const std::string text = Numbers(kBlock), other(kBlock, '!');
  const size_t part = kBlock / 2;
  for (const bool moved_goes_first : {false, true}) {
    wf_sink from, to, next, last;
    ASSERT_TRUE(to.Put("[") && from.Put(text) && from.Put("x"));  // which closes the block
    const uint8_t* const first = from.Pieces()[0].data;
    ASSERT_TRUE(to.AppendFirst(from, part));
    EXPECT_EQ(to.Pieces()[1].data, first);
    EXPECT_EQ(from.Pieces()[0].data, first + part);
    (moved_goes_first ? to : from).Clear();
    ASSERT_TRUE(next.Put(other));
    EXPECT_NE(next.Pieces()[0].data, first);
    if (moved_goes_first)
      EXPECT_EQ(TextOf(from), text.substr(part) + "x");
    else
      EXPECT_EQ(TextOf(to), "[" + text.substr(0, part));
    (moved_goes_first ? from : to).Clear();
    ASSERT_TRUE(last.Put(Numbers(8 * kBlock)));  // more than was given back
    const auto pieces = last.Pieces();
    EXPECT_TRUE(std::any_of(pieces.begin(), pieces.end(), [first](const SinkPiece& piece) { return piece.data == first; }));
  }
}

TEST(Sink, APartOfABlockHoldsAllOfIt) {
  wf_sink from, to;
  EXPECT_EQ(to.held_bytes(), 0);
  ASSERT_TRUE(from.Put(Numbers(wf_sink::kSmallBytes + 2 * SinkBlock::kMapped)));
  from.Consume(wf_sink::kSmallBytes + 50'000);
  ASSERT_TRUE(to.AppendFirst(from, 8'000) && to.AppendFirst(from, 8'000));
  EXPECT_EQ(to.held_bytes(), SinkBlock::kMapped / 3 * 2);  // the third piece is what `from` has left of the block
  from.Clear();
  EXPECT_EQ(to.held_bytes(), SinkBlock::kMapped);
  to.Consume(8'000);
  EXPECT_EQ(to.held_bytes(), SinkBlock::kMapped);
  to.Consume(8'000);
  EXPECT_EQ(to.held_bytes(), 0);
}

TEST(Sink, PartsOfSeveralTextsInTurnHoldEachBlockOnce) {
  wf_sink first, second, to;
  for (wf_sink* from : {&first, &second}) {
    ASSERT_TRUE(from->Put(Numbers(wf_sink::kSmallBytes + 2 * SinkBlock::kMapped)));
    from->Consume(wf_sink::kSmallBytes + 50'000);
  }
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(to.AppendFirst(first, 8'000) && to.AppendFirst(second, 8'000));
  first.Clear();
  second.Clear();
  EXPECT_EQ(to.held_bytes(), 2 * SinkBlock::kMapped);
}

TEST(Sink, WhatIsGoneFromAnEndlessTextTakesNoRoom) {
  wf_sink sink;
  const std::string block = Numbers(kBlock);
  std::set<const SinkPiece*> places;
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(sink.Put(block));
    if (i != 0) sink.Consume(block.size());  // some of it always waits
    places.insert(sink.Pieces().data());
  }
  EXPECT_LT(places.size(), 1000U);
}

TEST(Sink, ATextInOneBlockIsOneView) {
  wf_sink sink, more;
  EXPECT_EQ(sink.Whole(), "");
  const std::string text = Numbers(kBlock);
  ASSERT_TRUE(sink.Put("ab") && more.Put("cd") && sink.Append(more));
  EXPECT_EQ(sink.Whole(), "abcd");
  sink.Clear();
  ASSERT_TRUE(sink.Put(text));
  EXPECT_EQ(sink.Whole(), text);
  ASSERT_TRUE(sink.Put("x"));
  EXPECT_EQ(sink.Whole(), "");
}

TEST(Sink, LongTextsGoOnInLargeBlocks) {
  wf_sink sink;
  const std::string text = Numbers(2'000'000);
  for (size_t at = 0; at < text.size(); at += 777) ASSERT_TRUE(sink.Put(text.data() + at, std::min<size_t>(777, text.size() - at)));
  EXPECT_EQ(TextOf(sink), text);
  EXPECT_LT(sink.Pieces().size(), 17 + 2'000'000 / SinkBlock::kMapped + 1);
  sink.Consume(1'000'000);
  EXPECT_EQ(TextOf(sink), text.substr(1'000'000));
}

// How many bytes are mapped, whatever an allocator keeps: blocks of long texts are given back to the system by whichever thread is last.
size_t MappedKib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmSize:" && status >> word) return std::stoul(word);
  }
  return 0;
}

TEST(Sink, GivesTheMemoryOfLongTextsBack) {
  const std::string text(200'000'000, 'x');
  const size_t before = MappedKib();
  wf_sink sink;
  std::thread([&] { ASSERT_TRUE(sink.Put(text.data(), text.size())); }).join();
  EXPECT_GT(MappedKib(), before + 190'000);
  sink.Clear();
  EXPECT_LT(MappedKib(), before + 140'000);  // an allocator reserves 64 MiB for a thread
}

// As much as a loop may have of answers that it writes, or less.
class FewBytes final : public MemoryLimit {
 public:
  bool Claim(int64_t bytes) noexcept override {
    if (bytes > left) return false;
    left -= bytes;
    return true;
  }
  void Unclaim(int64_t bytes) noexcept override { left += bytes; }
  int64_t left = 3 << 20;
};

TEST(Sink, WhatItTakesInAScopeIsClaimed) {
  FewBytes limit;
  const std::string text(2'000'000, 'x');
  {
    MemoryClaim claim;
    wf_sink sink, behind;
    {
      SinkScope scope(limit, &claim);
      ASSERT_TRUE(sink.Put(text));
      EXPECT_LT(limit.left, (3 << 20) - 1'700'000);
      EXPECT_FALSE(behind.Put(text));
      EXPECT_GT(scope.lacked_bytes(), 2 << 20);
      behind.Clear();
      EXPECT_TRUE(sink.Append(behind));
    }
    EXPECT_EQ(claim.bytes(), (3 << 20) - limit.left);
    EXPECT_LT(claim.bytes(), 2 << 20);
  }
  EXPECT_EQ(limit.left, 3 << 20);
}

TEST(Sink, WhatNobodyWantsAnyMoreIsNotWrittenOn) {
  FewBytes limit;
  std::atomic<bool> stop{false};
  const UntilStopped wanted(stop);
  MemoryClaim claim;
  wf_sink sink, other;
  const std::string text(1'000'000, 'x');
  {
    SinkScope scope(limit, &claim, &wanted);
    ASSERT_TRUE(sink.Put(text));
    EXPECT_TRUE(SinkScope::IsWantedHere());
    stop = true;
    EXPECT_FALSE(SinkScope::IsWantedHere());
    EXPECT_FALSE(sink.Put(text));
    EXPECT_TRUE(sink.failed());
    sink.Clear();
    EXPECT_FALSE(other.Put("x"));
    EXPECT_EQ(scope.lacked_bytes(), 0);
  }
  EXPECT_TRUE(SinkScope::IsWantedHere());
  EXPECT_TRUE(sink.Put(text));
}

TEST(Sink, TellsWhatItHolds) {
  wf_sink from, to;
  ASSERT_TRUE(from.Put(std::string(600'000, 'x')));
  const size_t held = from.block_bytes();
  EXPECT_EQ(held, from.held_bytes());
  ASSERT_TRUE(to.AppendFirst(from, 300'000));
  EXPECT_EQ(from.block_bytes(), from.held_bytes() + SinkBlock::kMapped / 2);  // what both hold of a block counts in both
  from.Clear();
  EXPECT_EQ(from.block_bytes(), 0);
  to.Clear();
  EXPECT_EQ(to.block_bytes(), 0);
}

TEST(Sink, WhatIsPutLaterGoesBehind) {
  wf_sink from, to;
  const std::string text = Numbers(20'000);
  ASSERT_TRUE(from.Put(text.data(), text.size()));
  ASSERT_TRUE(to.Put("a", 1) && to.AppendFirst(from, text.size() - 1) && to.Put("b", 1) && from.Put("c", 1) && to.AppendFirst(from, 2));
  EXPECT_EQ(TextOf(to), "a" + text.substr(0, text.size() - 1) + "b" + text.back() + "c");
}

TEST(Sink, ATextInMemoryOfOthersIsOnePieceThatGrows) {
  struct Owner {
    std::vector<std::unique_ptr<uint8_t[]>> blocks;
    size_t left;
  };
  const auto grow = [](void* owner, const uint8_t* begin, size_t bytes, size_t more) -> uint8_t* {
    auto& all = *static_cast<Owner*>(owner);
    if (more > all.left) return nullptr;
    all.blocks.push_back(std::make_unique<uint8_t[]>(more));
    std::memcpy(all.blocks.back().get(), begin, bytes);
    return all.blocks.back().get();
  };
  const std::string text = Numbers(100'000);
  uint8_t first[100];
  Owner owner{{}, 1'000'000};
  wf_sink sink({first, sizeof first, grow, &owner});
  EXPECT_FALSE(sink.is_reply());
  for (size_t at = 0; at < text.size(); at += 1000) {
    uint8_t* const to = sink.Reserve(500);
    ASSERT_NE(to, nullptr);
    std::memcpy(to, text.data() + at, 500);
    sink.Commit(to + 500);
    ASSERT_TRUE(sink.Put(text.data() + at + 500, 500));
  }
  EXPECT_EQ(sink.Whole(), text);
  Owner poor{{}, 5000};
  wf_sink full({first, sizeof first, grow, &poor});
  EXPECT_FALSE(full.Put(text.data(), text.size()));
  EXPECT_TRUE(full.failed());
}

}  // namespace
}  // namespace wf::base
