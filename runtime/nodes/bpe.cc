#include <algorithm>

#include "runtime/abi/view.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/tokenise.h"

namespace wf::nodes {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A token of a word while it is put together; `id` is kNoToken when it has become part of the one before.
struct Symbol {
  uint32_t id, before, after;  // before, after: places of its neighbours, or kNone
};
struct Candidate {
  uint32_t rank, at, id;  // that the symbol at `at` and the next become `id`
};
// Of a heap: the lowest rank is first, then the first place.
bool IsLater(const Candidate& a, const Candidate& b) { return a.rank != b.rank ? a.rank > b.rank : a.at > b.at; }

// A word's bytes, of which again and again the pair of the lowest rank becomes one.   Cost: O(n log n).
class BytePairs final : public WordEncoder {
 public:
  BytePairs(wf_ctx* ctx, const TokenTable& table) : ctx_(ctx), table_(table), symbols_(ctx), candidates_(ctx) {}

  bool Add(const Word& word, Scratch<int64_t>& ids) override {
    if ((table_.head().flags & abi::kWholeWords) != 0) {
      uint64_t hash = abi::kWordHash;
      for (const char c : word.text) hash = abi::HashByte(hash, static_cast<uint8_t>(c));
      const uint32_t id = table_.FindWord(hash, word.text, false);
      if (id != abi::kNoToken) return ids.Push(id);
    }
    if (!ReadBytes(word.text) || !MergeAll()) return false;
    for (const Symbol& symbol : symbols_) {
      if (symbol.id != abi::kNoToken && !ids.Push(symbol.id)) return false;
    }
    return true;
  }

 private:
  bool ReadBytes(std::string_view word) {
    const abi::TokenHead& head = table_.head();
    if (word.size() >= kNone) {
      Fail(ctx_, code::kType, "a word of 4 GiB");
      return false;
    }
    if (!symbols_.Reserve(word.size())) return false;
    symbols_.Resize(0);
    bool was_unknown = false;
    for (const char c : word) {
      const auto known = table_.At<uint32_t>(head.bytes, static_cast<uint8_t>(c));
      const bool is_unknown = known == abi::kNoToken;
      const uint32_t id = is_unknown ? head.unknown : known;
      const bool is_fused = is_unknown && was_unknown && (head.flags & abi::kFuseUnknown) != 0;
      was_unknown = is_unknown;
      if (id == abi::kNoToken || is_fused) continue;
      const auto at = static_cast<uint32_t>(symbols_.size());
      symbols_.Resize(at + 1);
      symbols_[at] = {id, at == 0 ? kNone : at - 1, kNone};
      if (at != 0) symbols_[at - 1].after = at;
    }
    return true;
  }

  bool MergeAll() {
    candidates_.Resize(0);
    for (uint32_t at = 0; at + 1 < symbols_.size(); ++at) {
      if (!Consider(at)) return false;
    }
    std::make_heap(candidates_.begin(), candidates_.end(), IsLater);
    for (uint64_t steps = 1; candidates_.size() != 0; ++steps) {
      if (steps % kElementsPerStopCheck == 0 && Stopped(ctx_)) return false;
      std::pop_heap(candidates_.begin(), candidates_.end(), IsLater);
      const Candidate next = candidates_[candidates_.size() - 1];
      candidates_.Resize(candidates_.size() - 1);
      if (!Merge(next)) return false;
    }
    return true;
  }

  // A pair that has changed since is passed over, unless it still makes the same token.
  bool Merge(const Candidate& candidate) {
    Symbol& symbol = symbols_[candidate.at];
    if (symbol.id == abi::kNoToken || symbol.after == kNone) return true;
    Symbol& taken = symbols_[symbol.after];
    const auto merge = table_.FindMerge(symbol.id, taken.id);
    if (!merge || merge->id != candidate.id) return true;
    symbol.id = candidate.id;
    symbol.after = taken.after;
    taken.id = abi::kNoToken;
    if (symbol.after != kNone) symbols_[symbol.after].before = candidate.at;
    return ConsiderLater(symbol.before) && ConsiderLater(candidate.at);
  }

  bool Consider(uint32_t at) {
    const Symbol& symbol = symbols_[at];
    if (symbol.after == kNone) return true;
    const auto merge = table_.FindMerge(symbol.id, symbols_[symbol.after].id);
    return !merge || candidates_.Push({merge->rank, at, merge->id});
  }
  bool ConsiderLater(uint32_t at) {
    if (at == kNone) return true;
    const uint64_t size = candidates_.size();
    if (!Consider(at)) return false;
    if (candidates_.size() != size) std::push_heap(candidates_.begin(), candidates_.end(), IsLater);
    return true;
  }

  wf_ctx* ctx_;
  const TokenTable& table_;
  Scratch<Symbol> symbols_;
  Scratch<Candidate> candidates_;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_bpe(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* tokenizer, const wf_optional_i64* most,
                            const uint8_t* special, wf_tensor* ids) noexcept {
  using namespace wf::nodes;
  TokenTable table;
  if (!table.Open(*tokenizer, wf::abi::TokenModel::kBpe)) return Fail(ctx, wf::code::kType, "this is no tokenizer of byte pairs");
  BytePairs pairs(ctx, table);
  return Tokenise({ctx, table, wf::abi::View(*text), *most, *special != 0}, pairs, ids);
}
