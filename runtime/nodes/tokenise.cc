#include "runtime/nodes/tokenise.h"

#include <algorithm>
#include <bitset>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/normalise.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

using abi::AddedToken;

constexpr uint64_t kWordsPerStopCheck = 256;

// Finds the added tokens of one section: at the first place where one stands the longest.
class AddedTokens {
 public:
  AddedTokens(const TokenTable& table, abi::TokenSection section) : table_(table), section_(section) {
    for (uint32_t i = 0; i < section_.count; ++i) {
      if (const std::string_view text = TextOf(i); !text.empty()) begins_[static_cast<uint8_t>(text[0])] = true;
    }
  }

  struct Place {
    size_t at;
    AddedToken token;
  };
  std::optional<Place> FindFrom(size_t at, std::string_view text) const {
    if (section_.count == 0) return std::nullopt;
    for (; at < text.size(); ++at) {
      if (!begins_[static_cast<uint8_t>(text[at])]) continue;
      if (const auto found = LongestAt(text.substr(at))) return Place{at, *found};
    }
    return std::nullopt;
  }

 private:
  AddedToken Token(uint32_t i) const { return table_.At<AddedToken>(section_, i); }
  std::string_view TextOf(uint32_t i) const { return table_.Text(Token(i).offset, Token(i).length); }

  // Goes down the texts, which are in order, byte by byte: those from `low` to `high` begin as `text` does.
  std::optional<AddedToken> LongestAt(std::string_view text) const {
    uint32_t low = 0, high = section_.count;
    std::optional<AddedToken> longest;
    for (size_t depth = 0;; ++depth) {
      for (; low < high && TextOf(low).size() <= depth; ++low) {
        if (depth != 0) longest = Token(low);
      }
      if (low >= high || depth == text.size()) return longest;
      const auto next = static_cast<uint8_t>(text[depth]);
      const auto first_not = [&](bool above) {
        uint32_t from = low, count = high - low;
        while (count > 0) {
          const std::string_view middle = TextOf(from + count / 2);
          const int byte = depth < middle.size() ? static_cast<uint8_t>(middle[depth]) : -1;
          const bool is_before = above ? byte <= next : byte < next;
          from += is_before ? count / 2 + 1 : 0;
          count = is_before ? count - count / 2 - 1 : count / 2;
        }
        return from;
      };
      const uint32_t first = first_not(false);
      high = first_not(true);
      low = first;
    }
  }

  const TokenTable& table_;
  abi::TokenSection section_;
  std::bitset<256> begins_;
};

class Run {
 public:
  Run(const TokenCall& call, WordEncoder& encoder)
      : ctx_(call.ctx),
        table_(call.table),
        start_(call.text.data()),
        encoder_(encoder),
        added_{AddedTokens(table_, table_.head().added[0]), AddedTokens(table_, table_.head().added[1])},
        normaliser_(ctx_, table_.head().steps, table_.map(), (table_.head().flags & abi::kKeepsAscii) != 0),
        ids_(ctx_) {}

  Scratch<int64_t>& ids() { return ids_; }
  bool PushAll(abi::TokenSection section) {
    for (uint32_t i = 0; i < section.count; ++i) {
      if (!ids_.Push(table_.At<uint32_t>(section, i))) return false;
    }
    return true;
  }

  // Until at least `wanted` ids are there.
  bool Add(std::string_view text, uint64_t wanted, size_t section = 0) {
    if (section == std::size(added_)) return AddText(text, wanted);
    size_t done = 0;
    for (size_t at = 0; ids_.size() < wanted;) {
      const auto place = added_[section].FindFrom(at, text);
      if (!place) break;
      const bool trims_left = (place->token.trims & abi::kTrimLeft) != 0, trims_right = (place->token.trims & abi::kTrimRight) != 0;
      const size_t start = trims_left ? std::max(done, WithoutSpacesAtEnd(text.substr(0, place->at))) : place->at;
      at = place->at + place->token.length;
      if (start > done && !Add(text.substr(done, start - done), wanted, section + 1)) return false;
      if (ids_.size() < wanted && !ids_.Push(place->token.id)) return false;
      done = at + (trims_right ? SpacesAtStart(text.substr(at)) : 0);
    }
    return done >= text.size() || ids_.size() >= wanted || Add(text.substr(done), wanted, section + 1);
  }

 private:
  bool AddText(std::string_view text, uint64_t wanted) {
    const abi::TokenHead& head = table_.head();
    const bool is_only_at_start = (head.flags & abi::kOnlyAtStart) != 0;
    bool needs_space = (head.flags & abi::kSpaceBefore) != 0 && (!is_only_at_start || text.data() == start_);
    const auto lead = is_only_at_start ? Normaliser::Lead::kSpaceIfFirstStays : Normaliser::Lead::kSpace;
    if (!needs_space && head.steps[0] == abi::TextStep::kEnd) return AddWords(text, wanted);
    while (!text.empty() && ids_.size() < wanted) {
      const bool is_whole = head.split == abi::TokenSplit::kWhole || normaliser_.needs_whole();
      const size_t length = is_whole ? text.size() : LengthOfBlock(text);
      std::string_view block;
      if (!normaliser_.Run(text.substr(0, length), needs_space ? lead : Normaliser::Lead::kNone, &block)) return false;
      needs_space = needs_space && block.empty() && !is_only_at_start;
      if (!AddWords(block, wanted)) return false;
      text.remove_prefix(length);
    }
    return true;
  }

  bool AddWords(std::string_view text, uint64_t wanted) {
    WordSplitter words(table_.head().split, text);
    while (ids_.size() < wanted) {
      const Word word = words.Next();
      if (word.text.empty()) break;
      if (words_++ % kWordsPerStopCheck == 0 && Stopped(ctx_)) return false;
      if (!encoder_.Add(word, ids_)) return false;
    }
    return true;
  }

  wf_ctx* ctx_;
  const TokenTable& table_;
  const char* start_;  // of the whole text
  WordEncoder& encoder_;
  AddedTokens added_[2];
  Normaliser normaliser_;
  Scratch<int64_t> ids_;
  uint64_t words_ = 0;
};

}  // namespace

wf_code Tokenise(const TokenCall& call, WordEncoder& encoder, wf_tensor* ids) {
  const abi::TokenHead& head = call.table.head();
  const uint64_t around = call.special ? uint64_t{head.before.count} + head.after.count : 0;
  uint64_t wanted = UINT64_MAX;
  if (call.most.has != 0 || head.most != 0) {
    const int64_t most = call.most.has != 0 ? call.most.value : head.most;
    if (most < static_cast<int64_t>(around)) {
      return Fail(call.ctx, code::kType, "%lld ids cannot hold the %llu that stand around a text", static_cast<long long>(most),
                  static_cast<unsigned long long>(around));
    }
    wanted = static_cast<uint64_t>(most) - (call.special ? head.after.count : 0);
  }
  Run run(call, encoder);
  if (!run.ids().Reserve(std::min<uint64_t>(call.text.size() / 4, wanted) + around + 1)) return WF_FAILED;
  if (call.special && !run.PushAll(head.before)) return WF_FAILED;
  if (!run.Add(call.text, wanted)) return WF_FAILED;
  run.ids().Resize(std::min(run.ids().size(), wanted));
  if (call.special && !run.PushAll(head.after)) return WF_FAILED;
  *ids = {};
  ids->data = run.ids().data();
  ids->dtype = WF_I64;
  ids->rank = 1;
  ids->dim[0] = static_cast<int64_t>(run.ids().size());
  ids->stride[0] = 1;
  return 0;
}

}  // namespace wf::nodes
