#include "compiler/tokens/trie.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>

namespace wf::tokens {

using abi::kNoToken;
using abi::TokenNode;

namespace {

constexpr TokenNode kFree{0, kNoToken, kNoToken};
constexpr size_t kMostFull = 95;  // per cent: places are not looked at again where so many are taken

class TrieWriter {
 public:
  explicit TrieWriter(const std::vector<std::pair<std::string_view, uint32_t>>& texts) : texts_(texts), nodes_(1, {0, 0, kNoToken}) {}

  std::vector<TokenNode> Write() {
    open_.push_back({0, 0, texts_.size(), 0});
    for (; !open_.empty(); open_.pop_front()) Expand(open_.front());
    nodes_[0].parent = kNoToken;  // nobody's child
    return std::move(nodes_);
  }

 private:
  // A node whose children are not there yet: those of the texts from `low` to `high`, which have `depth` bytes in common.
  struct Open {
    uint32_t node;
    size_t low, high, depth;
  };

  void Expand(Open open) {
    if (open.low < open.high && texts_[open.low].first.size() == open.depth) nodes_[open.node].id = texts_[open.low++].second;
    if (open.low == open.high) return;
    const size_t first_open = open_.size();
    count_ = 0;
    for (size_t low = open.low; low < open.high;) {
      const auto byte = static_cast<uint8_t>(texts_[low].first[open.depth]);
      const auto has_other = [&](const auto& text) { return static_cast<uint8_t>(text.first[open.depth]) != byte; };
      const size_t high = static_cast<size_t>(std::find_if(texts_.begin() + static_cast<std::ptrdiff_t>(low),
                                                           texts_.begin() + static_cast<std::ptrdiff_t>(open.high), has_other) -
                                              texts_.begin());
      bytes_[count_++] = byte;
      open_.push_back({byte, low, high, open.depth + 1});
      low = high;
    }
    const auto base = static_cast<uint32_t>(PlaceFor());
    nodes_[open.node].base = base;
    for (size_t i = first_open; i < open_.size(); ++i) {
      open_[i].node += base;
      nodes_[open_[i].node] = {0, open.node, kNoToken};
    }
  }

  // Where all of bytes_ are free.
  size_t PlaceFor() {
    size_t taken = 0;
    bool is_first_free = true;
    for (size_t at = std::max<size_t>(from_, size_t{bytes_[0]} + 1);; ++at) {
      const size_t base = at - bytes_[0];
      if (nodes_.size() < base + 256) nodes_.resize(base + 256, kFree);
      if (!IsFree(at)) {
        ++taken;
        continue;
      }
      if (is_first_free) {
        from_ = std::max(from_, at);
        is_first_free = false;
        taken = 0;
      }
      bool fits = true;
      for (size_t i = 1; fits && i < count_; ++i) fits = IsFree(base + bytes_[i]);
      if (!fits) continue;
      if (taken * 100 >= (at - from_ + 1) * kMostFull) from_ = at;
      return base;
    }
  }
  bool IsFree(size_t at) const { return at != 0 && nodes_[at].parent == kNoToken; }

  const std::vector<std::pair<std::string_view, uint32_t>>& texts_;
  std::vector<TokenNode> nodes_;
  std::deque<Open> open_;
  std::array<uint8_t, 256> bytes_{};  // of the children that want a place
  size_t count_ = 0;
  size_t from_ = 1;  // the first place that is worth a look
};

}  // namespace

std::vector<TokenNode> TrieOf(const std::vector<std::pair<std::string_view, uint32_t>>& texts) { return TrieWriter(texts).Write(); }

}  // namespace wf::tokens
