#include <algorithm>

#include "runtime/abi/view.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/tokenise.h"

namespace wf::nodes {
namespace {

// From the start of a word on always the longest piece that is in the vocabulary; the whole word is unknown when there is none.
// Cost: O(length * longest piece).
class WordPieces final : public WordEncoder {
 public:
  WordPieces(wf_ctx* ctx, const TokenTable& table) : table_(table), hashes_(ctx) {}

  bool Add(const Word& word, Scratch<int64_t>& ids) override {
    const uint64_t before = ids.size();
    std::string_view rest = word.text;
    if (word.characters > table_.head().longest_word) rest = {};
    while (!rest.empty()) {
      uint32_t id = abi::kNoToken;
      const size_t length = LongestPiece(rest, rest.size() != word.text.size(), &id);
      if (failed_) return false;
      if (length == 0) break;
      if (!ids.Push(id)) return false;
      rest.remove_prefix(length);
    }
    if (rest.empty() && ids.size() != before) return true;
    ids.Resize(before);
    return ids.Push(table_.head().unknown);
  }

 private:
  size_t LongestPiece(std::string_view rest, bool continues, uint32_t* id) {
    const uint64_t most = std::min<uint64_t>(rest.size(), table_.head().longest_text);
    if (!hashes_.Reserve(most + 1)) {
      failed_ = true;
      return 0;
    }
    uint64_t hash = continues ? abi::kContinuationHash : abi::kWordHash;
    for (uint64_t i = 0; i < most; ++i) hashes_[i] = hash = abi::HashByte(hash, static_cast<uint8_t>(rest[i]));
    for (uint64_t length = most; length > 0; --length) {
      const bool ends_within_character = length < rest.size() && (static_cast<uint8_t>(rest[length]) & 0xc0) == 0x80;
      if (ends_within_character) continue;
      *id = table_.FindWord(hashes_[length - 1], rest.substr(0, length), continues);
      if (*id != abi::kNoToken) return length;
    }
    return 0;
  }

  const TokenTable& table_;
  Scratch<uint64_t> hashes_;  // of the beginnings of a piece, by length less one
  bool failed_ = false;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_wordpiece(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* tokenizer, const wf_optional_i64* most,
                                  const uint8_t* special, wf_tensor* ids) noexcept {
  using namespace wf::nodes;
  TokenTable table;
  if (!table.Open(*tokenizer, wf::abi::TokenModel::kWordPiece)) return Fail(ctx, wf::code::kType, "this is no tokenizer of WordPiece");
  WordPieces pieces(ctx, table);
  return Tokenise({ctx, table, wf::abi::View(*text), *most, *special != 0}, pieces, ids);
}
