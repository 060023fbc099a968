#include "compiler/tokens/trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace wf::tokens {
namespace {

uint32_t Find(const std::vector<abi::TokenNode>& nodes, std::string_view text) {
  uint32_t at = 0;
  for (const char c : text) {
    const size_t next = size_t{nodes[at].base} + static_cast<uint8_t>(c);
    if (next >= nodes.size() || nodes[next].parent != at) return abi::kNoToken;
    at = static_cast<uint32_t>(next);
  }
  return nodes[at].id;
}

std::vector<abi::TokenNode> TrieOfMap(const std::map<std::string, uint32_t>& texts) {
  std::vector<std::pair<std::string_view, uint32_t>> sorted;
  for (const auto& [text, id] : texts) sorted.emplace_back(text, id);
  return TrieOf(sorted);
}

TEST(Trie, OfNothingFindsNothing) {
  EXPECT_EQ(Find(TrieOfMap({}), "a"), abi::kNoToken);
  EXPECT_EQ(Find(TrieOfMap({}), ""), abi::kNoToken);
}

TEST(Trie, FindsWholeTextsAlone) {
  const auto nodes = TrieOfMap({{"a", 0}, {"abc", 1}, {"\xff", 2}, {std::string("\0", 1), 3}});
  EXPECT_EQ(Find(nodes, "a"), 0U);
  EXPECT_EQ(Find(nodes, "ab"), abi::kNoToken);
  EXPECT_EQ(Find(nodes, "abc"), 1U);
  EXPECT_EQ(Find(nodes, "abcd"), abi::kNoToken);
  EXPECT_EQ(Find(nodes, "\xff"), 2U);
  EXPECT_EQ(Find(nodes, std::string_view("\0", 1)), 3U);
  EXPECT_EQ(Find(nodes, "b"), abi::kNoToken);
}

TEST(Trie, FindsAllOfManyInLittleSpace) {
  std::mt19937 dice(5);
  std::map<std::string, uint32_t> texts;
  size_t bytes = 0;
  while (texts.size() < 30'000) {
    std::string text(1 + dice() % 8, ' ');
    for (char& c : text) c = static_cast<char>(dice() % 4 == 0 ? dice() : 'a' + dice() % 26);
    bytes += texts.emplace(text, static_cast<uint32_t>(texts.size())).second ? text.size() : 0;
  }
  const auto nodes = TrieOfMap(texts);
  for (const auto& [text, id] : texts) ASSERT_EQ(Find(nodes, text), id);
  EXPECT_LT(nodes.size(), bytes + bytes / 4);
}

}  // namespace
}  // namespace wf::tokens
