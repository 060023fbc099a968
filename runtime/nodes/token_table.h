#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/abi/char_map.h"
#include "runtime/abi/token_table.h"
#include "runtime/abi/values.h"

namespace wf::nodes {

// Reads a tokenizer's table; of bytes that wfc did not write it yields nonsense, and stays within them.
// Thread: immutable.   Borrows: the bytes.   Cost: O(1), and a few places of a table for what is found there.
class TokenTable {
 public:
  // False: the bytes are no table of that model.
  bool Open(wf_bytes bytes, abi::TokenModel model);

  const abi::TokenHead& head() const { return head_; }
  template <typename T>
  T At(abi::TokenSection section, uint64_t i) const {  // REQUIRES: i < section.count
    T value;
    std::memcpy(&value, bytes_ + section.offset + i * sizeof(T), sizeof(T));
    return value;
  }
  std::string_view Text(uint32_t offset, uint32_t length) const {  // empty when it is not all there
    const abi::TokenSection& texts = head_.texts;
    if (offset > texts.count || length > texts.count - offset) return {};
    return {reinterpret_cast<const char*>(bytes_) + texts.offset + offset, length};
  }

  // Of a tokenizer of any model.
  bool Open(wf_bytes bytes);
  std::optional<abi::TokenName> FindName(int64_t id) const;

  // `hash`: of kWordHash or kContinuationHash and the bytes of `text`. kNoToken when there is none.
  uint32_t FindWord(uint64_t hash, std::string_view text, bool continues) const;
  std::optional<abi::TokenMerge> FindMerge(uint32_t left, uint32_t right) const;
  abi::CharMap map() const { return abi::CharMap({reinterpret_cast<const char*>(bytes_) + head_.map.offset, head_.map.count}); }
  double ScoreOf(uint32_t id) const { return id < head_.scores.count ? At<double>(head_.scores, id) : 0; }

 private:
  bool Holds(abi::TokenSection section, uint64_t entry_size) const;

  const uint8_t* bytes_ = nullptr;
  uint64_t length_ = 0;
  abi::TokenHead head_{};
};

// Goes down the trie of pieces, byte by byte.   Thread: confined to the call.   Borrows: table.
class TrieWalk {
 public:
  explicit TrieWalk(const TokenTable& table) : table_(table) {}
  bool Follow(uint8_t byte) {
    const uint64_t next = uint64_t{node_.base} + byte;
    if (next >= table_.head().nodes.count) return false;
    const auto child = table_.At<abi::TokenNode>(table_.head().nodes, next);
    if (child.parent != at_) return false;
    at_ = static_cast<uint32_t>(next);
    node_ = child;
    return true;
  }
  uint32_t id() const { return node_.id; }  // of the piece that ends here

 private:
  const TokenTable& table_;
  uint32_t at_ = 0;
  abi::TokenNode node_ =
      table_.head().nodes.count == 0 ? abi::TokenNode{UINT32_MAX, 0, abi::kNoToken} : table_.At<abi::TokenNode>(table_.head().nodes, 0);
};

}  // namespace wf::nodes
