#include "runtime/nodes/token_table.h"

#include <algorithm>

namespace wf::nodes {

using abi::kNoToken;
using abi::TokenMerge;
using abi::TokenSection;
using abi::TokenWord;

bool TokenTable::Holds(TokenSection section, uint64_t entry_size) const {
  return section.offset <= length_ && section.count <= (length_ - section.offset) / entry_size;
}

bool TokenTable::Open(wf_bytes bytes, abi::TokenModel model) { return Open(bytes) && head_.model == model; }

bool TokenTable::Open(wf_bytes bytes) {
  if (bytes.len < sizeof head_) return false;
  std::memcpy(&head_, bytes.ptr, sizeof head_);
  if (head_.magic != abi::kTokenMagic || head_.steps[abi::kMaxTextSteps] != abi::TextStep::kEnd) return false;
  bytes_ = bytes.ptr;
  length_ = bytes.len;
  const bool has_bytes = head_.model == abi::TokenModel::kBpe || (head_.model == abi::TokenModel::kUnigram && head_.bytes.count != 0);
  const uint64_t wanted_bytes = has_bytes ? 256 : 0;
  return Holds(head_.before, sizeof(uint32_t)) && Holds(head_.after, sizeof(uint32_t)) && Holds(head_.added[0], sizeof(abi::AddedToken)) &&
         Holds(head_.added[1], sizeof(abi::AddedToken)) && Holds(head_.words, sizeof(TokenWord)) &&
         Holds(head_.merges, sizeof(TokenMerge)) && Holds(head_.bytes, sizeof(uint32_t)) && head_.bytes.count == wanted_bytes &&
         Holds(head_.nodes, sizeof(abi::TokenNode)) && Holds(head_.scores, sizeof(double)) && Holds(head_.names, sizeof(abi::TokenName)) &&
         Holds(head_.map, 1) && Holds(head_.texts, 1);
}

uint32_t TokenTable::FindWord(uint64_t hash, std::string_view text, bool continues) const {
  const uint32_t wanted = abi::Mixed(hash), slots = head_.words.count;
  uint32_t slot = abi::SlotOf(wanted, slots);
  for (uint32_t tried = 0; tried < std::min(slots, abi::kMostProbes); ++tried) {
    const auto word = At<TokenWord>(head_.words, slot);
    if (word.id == kNoToken) break;
    if (word.hash == wanted && word.length == text.size() && (word.continues != 0) == continues && Text(word.offset, word.length) == text)
      return word.id;
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  return kNoToken;
}

std::optional<abi::TokenName> TokenTable::FindName(int64_t id) const {
  const auto name_at = [this](uint64_t i) { return At<abi::TokenName>(head_.names, i); };
  uint64_t low = 0, high = head_.names.count;
  if (id >= 0 && static_cast<uint64_t>(id) < high && name_at(static_cast<uint64_t>(id)).id == id) return name_at(static_cast<uint64_t>(id));
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    const abi::TokenName name = name_at(middle);
    if (name.id == id) return name;
    (name.id < id ? low : high) = name.id < id ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::optional<TokenMerge> TokenTable::FindMerge(uint32_t left, uint32_t right) const {
  const uint32_t slots = head_.merges.count;
  uint32_t slot = abi::SlotOf(abi::HashOfPair(left, right), slots);
  for (uint32_t tried = 0; tried < std::min(slots, abi::kMostProbes); ++tried) {
    const auto merge = At<TokenMerge>(head_.merges, slot);
    if (merge.id == kNoToken) break;
    if (merge.left == left && merge.right == right) return merge;
    slot = slot + 1 == slots ? 0 : slot + 1;
  }
  return std::nullopt;
}

}  // namespace wf::nodes
