#include "compiler/tokens/write_table.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "compiler/base/utf8.h"
#include "compiler/tokens/read_model.h"
#include "compiler/tokens/trie.h"
#include "runtime/abi/char_map.h"

namespace wf::tokens {

using abi::AddedToken;
using abi::kNoToken;
using abi::TokenMerge;
using abi::TokenSection;
using abi::TokenWord;

namespace {

// A byte for each character of byte-level BPE, below the first that stands for none.
class ByteAlphabet {
 public:
  ByteAlphabet() {
    for (int byte = 0; byte < 256; ++byte) bytes_[CharacterOf(static_cast<uint8_t>(byte))] = static_cast<int16_t>(byte);
  }
  // The bytes that a word of the vocabulary stands for; nothing when it has other characters, as special tokens may.
  bool Read(std::string_view word, std::string& bytes) const {
    bytes.clear();
    while (!word.empty()) {
      const source::CodePoint character = source::DecodeUtf8(word);
      if (character.value >= bytes_.size() || bytes_[character.value] < 0) return false;
      bytes += static_cast<char>(bytes_[character.value]);
      word.remove_prefix(character.length);
    }
    return !bytes.empty();
  }

 private:
  std::array<int16_t, 256 + 68> bytes_ = [] {
    std::array<int16_t, 256 + 68> none;
    none.fill(-1);
    return none;
  }();
};

class TableWriter {
 public:
  explicit TableWriter(const Tokenizer& tokenizer) : in_(tokenizer), out_(sizeof(abi::TokenHead), '\0') {}

  base::Result<std::string> Write() {
    head_.magic = abi::kTokenMagic;
    head_.model = in_.model;
    head_.split = in_.split;
    head_.flags = in_.flags;
    head_.unknown = is_unigram_ ? in_.unknown_id : in_.unknown.empty() ? kNoToken : in_.vocabulary.at(in_.unknown);
    head_.longest_word = in_.longest_word;
    head_.most = in_.most;
    std::copy(in_.steps.begin(), in_.steps.end(), head_.steps);
    head_.before = Append(in_.before);
    head_.after = Append(in_.after);
    head_.added[0] = AddAdded(false);
    head_.added[1] = AddAdded(true);
    head_.words = AddWords();
    head_.merges = AddMerges();
    if (in_.model == abi::TokenModel::kBpe || in_.falls_back) head_.bytes = AddBytes();
    if (is_unigram_) AddPieces();
    head_.map = {static_cast<uint32_t>(out_.size()), static_cast<uint32_t>(in_.map.size())};
    out_ += in_.map;
    if (KeepsAscii()) head_.flags |= abi::kKeepsAscii;
    head_.join = in_.join;
    head_.prefix = static_cast<uint32_t>(in_.joined_prefix.size());
    head_.names = AddNames();
    if (is_crowded_)
      return base::Status(base::kResourceExhausted, "its words or merges were chosen so that they take one place of a table");
    if (out_.size() + texts_.size() > UINT32_MAX) return base::Status(base::kResourceExhausted, "more than 4 GiB");
    head_.texts = {static_cast<uint32_t>(out_.size()), static_cast<uint32_t>(texts_.size())};
    out_ += texts_;
    std::memcpy(out_.data(), &head_, sizeof head_);
    return std::move(out_);
  }

 private:
  template <typename T>
  TokenSection Append(const std::vector<T>& entries) {
    const TokenSection section{static_cast<uint32_t>(out_.size()), static_cast<uint32_t>(entries.size())};
    out_.append(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(T));
    return section;
  }
  uint32_t AppendText(std::string_view text) {
    const auto offset = static_cast<uint32_t>(texts_.size());
    texts_ += text;
    return offset;
  }
  // As many slots as leave a third of them free.
  static size_t SlotsFor(size_t entries) { return entries == 0 ? 0 : entries + entries / 2 + 1; }
  // Who chooses entries by their hashes could have each look at all others.
  template <typename Entry>
  void Place(std::vector<Entry>& slots, uint32_t hash, const Entry& entry) {
    size_t slot = abi::SlotOf(hash, static_cast<uint32_t>(slots.size()));
    uint32_t tried = 1;
    for (; slots[slot].id != kNoToken && tried < abi::kMostProbes; ++tried) slot = slot + 1 == slots.size() ? 0 : slot + 1;
    if (slots[slot].id == kNoToken)
      slots[slot] = entry;
    else
      is_crowded_ = true;
  }

  TokenSection AddAdded(bool is_normalised) {
    std::vector<const Added*> sorted;
    for (const Added& added : in_.added) {
      if (added.is_normalised == is_normalised) sorted.push_back(&added);
    }
    std::sort(sorted.begin(), sorted.end(), [](const Added* a, const Added* b) { return a->text < b->text; });
    std::vector<AddedToken> entries;
    for (const Added* added : sorted) {
      const uint32_t trims = (added->trims_left ? abi::kTrimLeft : 0) | (added->trims_right ? abi::kTrimRight : 0);
      entries.push_back({AppendText(added->text), static_cast<uint32_t>(added->text.size()), added->id, trims});
    }
    return Append(entries);
  }

  struct Key {
    std::string text;
    bool continues;
    uint32_t id;
  };
  // What natives look for: with WordPiece at the start of words or within them; with BPE, whole words.
  std::vector<Key> Keys() const {
    std::vector<Key> keys;
    const ByteAlphabet alphabet;
    std::string bytes;
    for (const auto& [word, id] : in_.vocabulary) {
      if (is_unigram_) continue;
      if (in_.model == abi::TokenModel::kBpe) {
        if ((in_.flags & abi::kWholeWords) != 0 && alphabet.Read(word, bytes)) keys.push_back({bytes, false, id});
        continue;
      }
      if (!word.empty()) keys.push_back({word, false, id});
      const bool continues = word.starts_with(in_.continuation) && word.size() > in_.continuation.size();
      if (continues) keys.push_back({word.substr(in_.continuation.size()), true, id});
    }
    std::sort(keys.begin(), keys.end(),
              [](const Key& a, const Key& b) { return std::tie(a.text, a.continues) < std::tie(b.text, b.continues); });
    return keys;
  }
  TokenSection AddWords() {
    const std::vector<Key> keys = Keys();
    std::vector<TokenWord> slots(SlotsFor(keys.size()), TokenWord{0, 0, 0, 0, kNoToken});
    for (const Key& key : keys) {
      uint64_t hash = key.continues ? abi::kContinuationHash : abi::kWordHash;
      for (const char c : key.text) hash = abi::HashByte(hash, static_cast<uint8_t>(c));
      const auto length = static_cast<uint32_t>(key.text.size());
      head_.longest_text = std::max(head_.longest_text, length);
      Place(slots, abi::Mixed(hash), {abi::Mixed(hash), AppendText(key.text), length, key.continues ? 1U : 0U, key.id});
    }
    return Append(slots);
  }

  bool KeepsAscii() const {
    const abi::CharMap map(in_.map);
    for (char c = ' '; c < 0x7f; ++c) {
      if (map.Find({&c, 1})) return false;
    }
    return true;
  }

  // What `tokenizers` takes the space away from.
  static bool IsClose(std::string_view text) {
    constexpr std::array<std::string_view, 9> kClose{".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
    return std::any_of(kClose.begin(), kClose.end(), [&](std::string_view one) { return text.starts_with(one); });
  }
  TokenSection AddNames() {
    std::map<uint32_t, std::pair<std::string_view, bool>> names;  // a text, and whether it is special
    for (const Added& added : in_.added) names.try_emplace(added.id, added.text, added.is_special);
    for (const auto& [word, id] : in_.vocabulary) names.try_emplace(id, word, false);
    std::vector<abi::TokenName> entries;
    const ByteAlphabet alphabet;
    std::string bytes;
    for (const auto& [id, name] : names) {
      std::string_view text = name.first;
      uint32_t flags = name.second ? uint32_t{abi::kSpecialName} : 0;
      if (in_.join == abi::TokenJoin::kBytes && alphabet.Read(text, bytes)) text = bytes;
      if (!in_.joined_prefix.empty() && text.starts_with(in_.joined_prefix)) flags |= abi::kContinuedName;
      if (in_.cleans_up && IsClose(text)) flags |= abi::kCloseName;
      entries.push_back({id, AppendText(text), static_cast<uint32_t>(text.size()), flags});
    }
    return Append(entries);
  }

  // Of a pair that stands twice the later rank holds.
  TokenSection AddMerges() {
    std::vector<TokenMerge> slots(SlotsFor(in_.merges.size()), TokenMerge{0, 0, 0, kNoToken});
    const auto pair = [this](uint32_t rank) { return uint64_t{in_.merges[rank].left} << 32 | in_.merges[rank].right; };
    std::vector<uint32_t> by_pair(in_.merges.size());
    std::iota(by_pair.begin(), by_pair.end(), 0U);
    std::sort(by_pair.begin(), by_pair.end(), [&](uint32_t a, uint32_t b) { return std::pair(pair(a), a) < std::pair(pair(b), b); });
    std::vector<bool> stands_again(in_.merges.size());
    for (size_t i = 1; i < by_pair.size(); ++i) stands_again[by_pair[i - 1]] = pair(by_pair[i - 1]) == pair(by_pair[i]);
    for (uint32_t rank = 0; rank < in_.merges.size(); ++rank) {
      const Merge& merge = in_.merges[rank];
      if (!stands_again[rank]) Place(slots, abi::HashOfPair(merge.left, merge.right), {merge.left, merge.right, rank, merge.id});
    }
    return Append(slots);
  }

  void AddPieces() {
    std::vector<std::pair<std::string_view, uint32_t>> pieces;
    for (const auto& [piece, id] : in_.vocabulary) {
      if (!piece.empty()) pieces.emplace_back(piece, id);
    }
    std::sort(pieces.begin(), pieces.end());
    head_.nodes = Append(TrieOf(pieces));
    head_.scores = Append(in_.scores);
    constexpr double kPenalty = 10;  // of `tokenizers`
    head_.unknown_score = *std::min_element(in_.scores.begin(), in_.scores.end()) - kPenalty;
  }

  // What a byte is in the vocabulary: with BPE a character, with Unigram <0x2A>.
  std::string NameOf(uint8_t byte) const {
    std::string name;
    if (is_unigram_) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      name = {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
    } else {
      source::AppendUtf8(CharacterOf(byte), name);
    }
    return name;
  }
  TokenSection AddBytes() {
    std::vector<uint32_t> ids;
    for (int byte = 0; byte < 256; ++byte) {
      const auto found = in_.vocabulary.find(NameOf(static_cast<uint8_t>(byte)));
      ids.push_back(found == in_.vocabulary.end() ? kNoToken : found->second);
    }
    return Append(ids);
  }

  const Tokenizer& in_;
  const bool is_unigram_ = in_.model == abi::TokenModel::kUnigram;
  abi::TokenHead head_{};
  std::string out_, texts_;
  bool is_crowded_ = false;
};

}  // namespace

base::Result<std::string> WriteTable(const Tokenizer& tokenizer) { return TableWriter(tokenizer).Write(); }

}  // namespace wf::tokens
