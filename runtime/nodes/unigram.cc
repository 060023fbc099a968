#include "runtime/abi/view.h"
#include "runtime/nodes/failure.h"
#include "runtime/nodes/stop.h"
#include "runtime/nodes/tokenise.h"
#include "runtime/nodes/unicode.h"

namespace wf::nodes {
namespace {

constexpr uint32_t kNoStart = UINT32_MAX;

// The best way to a byte of a word: what its pieces score, and the last of them.
struct Way {
  double score;
  uint32_t start, id;  // of the last piece; kNoStart: there is no way
};
struct WordPart {
  uint32_t start, end, id;
};

// The pieces of a word that together score highest, of equals those found first; characters that no piece is of are unknown, those side by
// side one of them.
// Cost: O(length * longest piece); 16 bytes a byte of the longest word, 12 a piece.
class BestPieces final : public WordEncoder {
 public:
  BestPieces(wf_ctx* ctx, const TokenTable& table) : ctx_(ctx), table_(table), ways_(ctx), pieces_(ctx) {}

  bool Add(const Word& word, Scratch<int64_t>& ids) override {
    if (word.text.size() >= kNoStart) {
      Fail(ctx_, code::kType, "a word of 4 GiB");
      return false;
    }
    if (!FindWays(word.text) || !TakeBest(word.text.size())) return false;
    for (uint64_t i = pieces_.size(); i > 0;) {  // the last is first
      WordPart piece = pieces_[--i];
      if (piece.id != table_.head().unknown) {
        if (!ids.Push(piece.id)) return false;
        continue;
      }
      while (i > 0 && pieces_[i - 1].id == piece.id) piece.end = pieces_[--i].end;
      if (!AddUnknown(word.text.substr(piece.start, piece.end - piece.start), ids)) return false;
    }
    return true;
  }

 private:
  bool FindWays(std::string_view word) {
    const uint64_t size = word.size();
    if (!ways_.Reserve(size + 1)) return false;
    ways_.Resize(size + 1);
    ways_[0] = {0, 0, kNoStart};
    for (uint64_t i = 1; i <= size; ++i) ways_[i] = {0, kNoStart, kNoStart};
    const double unknown_score = table_.head().unknown_score;
    uint64_t steps = 1;
    for (uint32_t at = 0; at < size; ++steps) {
      if (steps % kElementsPerStopCheck == 0 && Stopped(ctx_)) return false;
      const uint32_t length = Decode(word.substr(at)).length;
      if (!FollowPieces(word, at, length)) Reach(at, at + length, unknown_score, table_.head().unknown);
      at += length;
    }
    return true;
  }

  // All pieces that stand at `at`; whether the character there is one.
  bool FollowPieces(std::string_view word, uint32_t at, uint32_t length) {
    bool has_character = false;
    TrieWalk walk(table_);
    for (uint32_t end = at; end < word.size() && walk.Follow(static_cast<uint8_t>(word[end]));) {
      ++end;
      const uint32_t id = walk.id();
      if (id == abi::kNoToken) continue;
      Reach(at, end, table_.ScoreOf(id), id);
      has_character = has_character || end - at == length;
    }
    return has_character;
  }
  void Reach(uint32_t start, uint32_t end, double score, uint32_t id) {
    const double whole = ways_[start].score + score;
    Way& way = ways_[end];
    if (way.start == kNoStart || whole > way.score) way = {whole, start, id};
  }

  bool TakeBest(uint64_t size) {
    pieces_.Resize(0);
    for (auto end = static_cast<uint32_t>(size); end > 0;) {
      const Way& way = ways_[end];
      if (way.start >= end) break;  // of a table that wfc did not write
      if (!pieces_.Push({way.start, end, way.id})) return false;
      end = way.start;
    }
    return true;
  }

  bool AddUnknown(std::string_view text, Scratch<int64_t>& ids) {
    const abi::TokenHead& head = table_.head();
    if (const uint32_t id = WholePiece(text); id != abi::kNoToken) return ids.Push(id);
    if (head.bytes.count == 0) return ids.Push(head.unknown);
    const uint64_t before = ids.size();
    for (const char c : text) {
      const auto id = table_.At<uint32_t>(head.bytes, static_cast<uint8_t>(c));
      if (id == abi::kNoToken) {
        ids.Resize(before);
        return ids.Push(head.unknown);
      }
      if (!ids.Push(id)) return false;
    }
    return true;
  }
  uint32_t WholePiece(std::string_view text) const {
    TrieWalk walk(table_);
    for (const char c : text) {
      if (!walk.Follow(static_cast<uint8_t>(c))) return abi::kNoToken;
    }
    return walk.id();
  }

  wf_ctx* ctx_;
  const TokenTable& table_;
  Scratch<Way> ways_;
  Scratch<WordPart> pieces_;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_unigram(wf_ctx* ctx, const wf_bytes* text, const wf_bytes* tokenizer, const wf_optional_i64* most,
                                const uint8_t* special, wf_tensor* ids) noexcept {
  using namespace wf::nodes;
  TokenTable table;
  if (!table.Open(*tokenizer, wf::abi::TokenModel::kUnigram)) return Fail(ctx, wf::code::kType, "this is no tokenizer of Unigram");
  BestPieces pieces(ctx, table);
  return Tokenise({ctx, table, wf::abi::View(*text), *most, *special != 0}, pieces, ids);
}
