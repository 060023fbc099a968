#include "runtime/base/sink.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::base {
namespace {

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
  for (const size_t portion : {size_t{1000}, size_t{5000}, kSinkBlockBytes - sizeof(void*), size_t{50'000}, size_t{100'000}}) {
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
  constexpr size_t kBlock = kSinkBlockBytes - sizeof(void*);
  wf_sink from, to;
  const std::string text = Numbers(3 * kBlock);
  ASSERT_TRUE(from.Put(text.data(), text.size()));
  const uint8_t* const first = from.Pieces()[0].data;
  ASSERT_TRUE(to.AppendFirst(from, kBlock));
  EXPECT_EQ(to.Pieces()[0].data, first);
  EXPECT_EQ(TextOf(to), text.substr(0, kBlock));
  EXPECT_EQ(TextOf(from), text.substr(kBlock));
}

TEST(Sink, WhatIsPutLaterGoesBehind) {
  wf_sink from, to;
  const std::string text = Numbers(20'000);
  ASSERT_TRUE(from.Put(text.data(), text.size()));
  ASSERT_TRUE(to.Put("a", 1) && to.AppendFirst(from, text.size() - 1) && to.Put("b", 1) && from.Put("c", 1) && to.AppendFirst(from, 2));
  EXPECT_EQ(TextOf(to), "a" + text.substr(0, text.size() - 1) + "b" + text.back() + "c");
}

}  // namespace
}  // namespace wf::base
