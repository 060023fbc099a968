#include <gtest/gtest.h>

#include <random>

#include "compiler/tokens/read_tokenizer.h"
#include "compiler/tokens/write_table.h"
#include "runtime/base/base64.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/token_table.h"
#include "tests/unit/compiler/tokens/files.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::tokens {
namespace {

using nodes::FakeJob;
using nodes::View;
using Ids = std::vector<int64_t>;

std::string TableOf(const std::string& file) {
  const auto read = ReadTokenizer(file);
  EXPECT_TRUE(read.ok()) << read.status().message();
  auto table = WriteTable(*read);
  EXPECT_TRUE(table.ok());
  return *std::move(table);
}

struct Call {
  std::string table;
  wf_optional_i64 most{0, 0};
  uint8_t special = 1;
};
using Native = decltype(&wf_n_bpe);

wf_code Encode(FakeJob& job, Native native, const Call& call, std::string_view text, Ids* ids = nullptr) {
  const wf_bytes bytes = View(text), by = View(call.table);
  wf_tensor found{};
  const wf_code code = native(&job.ctx, &bytes, &by, &call.most, &call.special, &found);
  if (code == 0 && ids != nullptr) *ids = nodes::Elements<int64_t>(found);
  return code;
}
Ids IdsOf(Native native, const Call& call, std::string_view text) {
  FakeJob job;
  Ids ids;
  EXPECT_EQ(Encode(job, native, call, text, &ids), 0) << job.message;
  return ids;
}
Ids WordPieces(const std::string& file, std::string_view text) { return IdsOf(wf_n_wordpiece, {TableOf(file)}, text); }
Ids Pieces(const std::string& file, std::string_view text) { return IdsOf(wf_n_unigram, {TableOf(file)}, text); }
Ids BytePairs(const std::string& file, std::string_view text) { return IdsOf(wf_n_bpe, {TableOf(file)}, text); }

TEST(WordPiece, TakesTheLongestPieces) {
  EXPECT_EQ(WordPieces(WordPieceFile(), "undone a undo ado"), (Ids{1, 2, 3, 4, 1, 2, 4, 2}));
  EXPECT_EQ(WordPieces(WordPieceFile(), "unx ##"), (Ids{0, 0, 0}));
  EXPECT_EQ(WordPieces(WordPieceFile(), "é e\u0301"), (Ids{6, 0}));
  EXPECT_EQ(WordPieces(WordPieceFile(R"("normalizer": {"type": "NFC"}, )"), "é e\u0301"), (Ids{6, 6}));
}

TEST(WordPiece, AWordHasSoManyCharactersAtMost) {
  const std::string file = R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece", "max_input_chars_per_word": 3,
      "vocab": {"[UNK]": 0, "é": 1, "##é": 2}}})";
  EXPECT_EQ(WordPieces(file, "ééé éééé"), (Ids{1, 2, 2, 0}));
}

TEST(Bpe, MergesTheLowestRankFirst) {
  EXPECT_EQ(BytePairs(BpeFile(), "ababab b a"), (Ids{3, 2, 4, 1, 4, 0}));
  EXPECT_EQ(BytePairs(BpeFile(), "abxab"), (Ids{3})) << "bytes that no token has go when none is unknown";
  EXPECT_EQ(BytePairs(BpeFile("", R"("unk_token": "?", )"), "axyb"), (Ids{0, 5, 5, 1}));
  EXPECT_EQ(BytePairs(BpeFile("", R"("unk_token": "?", "fuse_unk": true, )"), "axyb"), (Ids{0, 5, 1}));
}

TEST(Bpe, AWordOfTheVocabularyMayStandWhole) {
  const std::string vocabulary = R"("type": "BPE", "vocab": {"a": 0, "b": 1, "aab": 2, "ab": 3}, "merges": ["a b"]}})";
  const std::string begin = R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "model": {)";
  EXPECT_EQ(BytePairs(begin + vocabulary, "aab"), (Ids{0, 3}));
  EXPECT_EQ(BytePairs(begin + R"("ignore_merges": true, )" + vocabulary, "aab"), (Ids{2}));
}

// How far merges go shows where a word ends.
TEST(Bpe, ModernPatternsAreKnown) {
  const auto file = [](const std::string& digits, const std::string& behavior = "Isolated") {
    return R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Split", "invert": false, "behavior": ")" + behavior +
           R"(", "pattern": {"Regex":
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|)" +
           digits + R"(| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}},
        {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
        "model": {"type": "BPE", "vocab": {"1": 0, "11": 1, "111": 2, "1111": 3}, "merges": ["1 1", "11 1", "11 11"]}})";
  };
  EXPECT_EQ(BytePairs(file(R"(\\p{N}{1,3})"), "1111"), (Ids{2, 0}));
  EXPECT_EQ(BytePairs(file(R"(\\p{N})"), "1111"), (Ids{0, 0, 0, 0}));
  for (const std::string& other : {file(R"(\\p{N}{1,2})"), file(R"(\\p{N})", "Removed")}) {
    const auto read = ReadTokenizer(other);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.status().code(), base::kUnimplemented);
  }
}

TEST(Unigram, TakesThePiecesThatScoreHighest) {
  EXPECT_EQ(Pieces(UnigramFile(), "ab"), (Ids{1, 4})) << "-2.5 - 4 are more than -8";
  EXPECT_EQ(Pieces(UnigramFile(), "abab b"), (Ids{1, 4, 4, 1, 3}));
  EXPECT_EQ(Pieces(UnigramFile(), ""), Ids{});
  EXPECT_EQ(Pieces(UnigramFile(), " "), (Ids{1}));
  EXPECT_EQ(Pieces(UnigramFile(), "éé"), (Ids{1, 6, 6}));
}

TEST(Unigram, UnknownCharactersSideBySideAreOne) {
  EXPECT_EQ(Pieces(UnigramFile(), "axya x"), (Ids{1, 2, 0, 2, 1, 0}));
  const std::string bytes = R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true,
      "vocab": [["?", 0], ["<0xC3>", -9], ["<0xA9>", -9], ["\u2581", -1], ["<0x78>", -9]]}})";
  EXPECT_EQ(Pieces(bytes, "éx"), (Ids{3, 1, 2, 4}));
  EXPECT_EQ(Pieces(bytes, "éy é"), (Ids{3, 0, 3, 1, 2})) << "a byte that has none";
}

TEST(Unigram, TheLaterOfEqualPiecesHolds) {
  const std::string file =
      R"({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "never"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["a", -2]]}})";
  EXPECT_EQ(Pieces(file, "a"), (Ids{2}));
}

TEST(Unigram, WordsBeginWithAMark) {
  const auto file = [](const std::string& splitter) {
    return R"({"pre_tokenizer": )" + splitter + R"(, "added_tokens": [{"id": 9, "content": "<x>", "special": true}],
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["\u2581", -1], ["a", -1]]}})";
  };
  const std::string text = "a  a<x>a";
  EXPECT_EQ(Pieces(file(R"({"type": "Metaspace"})"), text), (Ids{1, 2, 1, 1, 2, 9, 1, 2}));
  EXPECT_EQ(Pieces(file(R"({"type": "Metaspace", "prepend_scheme": "first"})"), text), (Ids{1, 2, 1, 1, 2, 9, 2}));
  EXPECT_EQ(Pieces(file(R"({"type": "Metaspace", "add_prefix_space": false})"), text), (Ids{2, 1, 1, 2, 9, 2}));
  EXPECT_EQ(Pieces(file(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace"}]})"), text),
            (Ids{1, 2, 1, 2, 9, 1, 2}));
}

std::string TextOf(const std::string& file, std::vector<int64_t> ids, uint8_t special = 0) {
  FakeJob job;
  const std::string table = TableOf(file);
  const wf_bytes by = View(table);
  const wf_tensor some = nodes::Vector(ids, WF_I64);
  wf_bytes text{};
  EXPECT_EQ(wf_n_detokenise(&job.ctx, &some, &by, &special, &text), 0) << job.message;
  return {reinterpret_cast<const char*>(text.ptr), text.len};
}

TEST(Unigram, AMarkAtTheStartStandsForItsFirstCharacter) {
  const std::string file = R"({"pre_tokenizer": {"type": "Metaspace", "prepend_scheme": "first"}, "normalizer": {"type": "Sequence",
      "normalizers": [{"type": "Nmt"}, {"type": "StripAccents"}, {"type": "Strip"}]},
      "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["\u2581", -1], ["a", -1], ["é", -1]]}})";
  for (const std::string& text : {std::string("\x01"
                                              "a"),
                                  std::string(" a"),
                                  std::string("\u0301"
                                              "a")})
    EXPECT_EQ(Pieces(file, text), Ids{2}) << text;
  EXPECT_EQ(Pieces(file, "a "), (Ids{1, 2}));
  EXPECT_EQ(Pieces(file, "é"), (Ids{1, 3}));
}

// A map as SentencePiece compiles it, of `a` to `text`.
std::string MapOfA(std::string_view text) {
  std::vector<uint32_t> units('a' + 1);
  units['a'] = 'a' | 1U << 8 | 1U << 10;  // a text's place stands at 'a' ^ 1
  units['a' ^ 1] = 1;
  const auto length = static_cast<uint32_t>(units.size() * sizeof(uint32_t));
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(reinterpret_cast<const char*>(units.data()), length);
  bytes += 'x';
  bytes += text;
  bytes += '\0';
  std::string encoded(base::Base64Bytes(bytes.size()), ' ');
  base::EncodeBase64(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), reinterpret_cast<uint8_t*>(encoded.data()));
  return R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + encoded + R"("}, )";
}

TEST(Unigram, CharactersAreMapped) {
  EXPECT_EQ(Pieces(UnigramFile(MapOfA("b")), "a b"), (Ids{1, 3, 1, 3}));
  EXPECT_EQ(Pieces(UnigramFile(MapOfA("éb")), "xa"), (Ids{1, 0, 6, 3}));
  EXPECT_EQ(Pieces(UnigramFile(MapOfA("")), "a ba"), (Ids{1, 3})) << "to nothing";
  EXPECT_EQ(Pieces(UnigramFile(MapOfA("b")), "a\u0301 é"), (Ids{1, 3, 1, 6})) << "what is seen as one character goes by its beginning";
}

TEST(Detokenise, JoinsAsTheDecoderSays) {
  const std::string words = R"("decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}, )";
  EXPECT_EQ(TextOf(WordPieceFile(words), {1, 2, 4, 0, 6}), "undo a? é");
  EXPECT_EQ(TextOf(WordPieceFile(words), {2, 2}), "##dodo") << "as `tokenizers` does, the first keeps its prefix";
  EXPECT_EQ(TextOf(WordPieceFile(), {1, 2, 0}), "un ##do ?");
  EXPECT_EQ(TextOf(BpeFile(R"("decoder": {"type": "ByteLevel"}, )"), {0, 4, 3, 5}), "a abab?");
  EXPECT_EQ(TextOf(UnigramFile(R"("decoder": {"type": "Metaspace"}, )"), {5, 5, 6, 1}), "ab abé ");
  EXPECT_EQ(TextOf(UnigramFile(R"("decoder": {"type": "Metaspace", "prepend_scheme": "never"}, )"), {5, 5}), " ab ab");
}

TEST(Detokenise, LeavesOutWhatIsSpecialOrNotThere) {
  const std::string added =
      R"("decoder": {"type": "ByteLevel"}, "added_tokens": [{"id": 900, "content": "<s>", "special": true}, {"id": 901, "content": "<n>", "special": false}], )";
  EXPECT_EQ(TextOf(BpeFile(added), {900, 0, 901, -1, 7, 1'000'000'000'000}), "a<n>");
  EXPECT_EQ(TextOf(BpeFile(added), {900, 0}, 1), "<s>a");
  EXPECT_EQ(TextOf(BpeFile(added), {}), "");
}

TEST(Detokenise, WhatIsNoTextIsReplaced) {
  const std::string file =
      R"({"pre_tokenizer": {"type": "ByteLevel"}, "decoder": {"type": "ByteLevel"}, "model": {"type": "BPE", "merges": [],
      "vocab": {"Ã": 0, "©": 1, "a": 2, "ð": 3, "Ł": 4, "ĺ": 5, "Ģ": 6, "í": 7, "ł": 8}}})";  // c3 a9 a f0 9f 98 80 ed a0
  EXPECT_EQ(TextOf(file, {0, 1, 2}), "éa");
  EXPECT_EQ(TextOf(file, {3, 4, 5, 6}), "\U0001f600");
  EXPECT_EQ(TextOf(file, {3, 4, 5, 2}), "\ufffda");
  EXPECT_EQ(TextOf(file, {0, 0, 1, 1}), "\ufffdé\ufffd");
  EXPECT_EQ(TextOf(file, {7, 8, 3}), "\ufffd\ufffd\ufffd");
}

TEST(Detokenise, FailsForOtherDecodersAndOtherBytes) {
  for (const std::string& table : {TableOf(BpeFile(R"("decoder": {"type": "CTC"}, )")), std::string("wtk1"), std::string(1000, 'x')}) {
    FakeJob job;
    const wf_bytes by = View(table);
    std::vector<int64_t> ids{0};
    const wf_tensor some = nodes::Vector(ids, WF_I64);
    const uint8_t special = 0;
    wf_bytes text{};
    EXPECT_EQ(wf_n_detokenise(&job.ctx, &some, &by, &special, &text), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
  }
}

TEST(AddedTokens, AreFoundInTheTextTheLongestFirst) {
  const std::string added =
      R"("added_tokens": [{"id": 10, "content": "<a", "special": true}, {"id": 11, "content": "<ab>", "special": true},
      {"id": 12, "content": "<|", "special": true, "lstrip": true, "rstrip": true}, {"id": 13, "content": "b<", "special": false}], )";
  EXPECT_EQ(BytePairs(BpeFile(added), "<ab><ab"), (Ids{11, 10, 1}));
  EXPECT_EQ(BytePairs(BpeFile(added), "a <| \u3000 b <|"), (Ids{0, 12, 1, 12}));
  EXPECT_EQ(BytePairs(BpeFile(added), "b<ab<"), (Ids{1, 10, 13})) << "those to be found in normalised text come after the others";
}

TEST(Tokens, AreNoMoreThanAskedFor) {
  const std::string table = TableOf(WordPieceFile(R"("post_processor": {"type": "BertProcessing", "cls": ["[", 20], "sep": ["]", 21]},
      "truncation": {"max_length": 4}, )"));
  EXPECT_EQ(IdsOf(wf_n_wordpiece, {table}, "a a a a"), (Ids{20, 4, 4, 21}));
  EXPECT_EQ(IdsOf(wf_n_wordpiece, {.table = table, .most = {3, 1}}, "a a a a"), (Ids{20, 4, 21}));
  EXPECT_EQ(IdsOf(wf_n_wordpiece, {.table = table, .special = 0}, "a a a a a a"), (Ids{4, 4, 4, 4}));
  EXPECT_EQ(IdsOf(wf_n_wordpiece, {.table = table, .most = {2, 1}}, "a a"), (Ids{20, 21}));
  EXPECT_EQ(IdsOf(wf_n_wordpiece, {.table = table, .most = {0, 1}, .special = 0}, "a"), Ids{});
  FakeJob job;
  EXPECT_EQ(Encode(job, wf_n_wordpiece, {.table = table, .most = {1, 1}}, "a"), WF_FAILED);
  EXPECT_EQ(job.code, 7000);
}

TEST(Tokens, ATableIsOfOneModel) {
  for (const auto& [native, table] : {std::pair<Native, std::string>(wf_n_bpe, TableOf(WordPieceFile())),
                                      std::pair<Native, std::string>(wf_n_wordpiece, TableOf(BpeFile()))}) {
    FakeJob job;
    EXPECT_EQ(Encode(job, native, {table}, "a"), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
  }
}

TEST(Tokens, TheSameFileIsTheSameTable) { EXPECT_EQ(TableOf(WordPieceFile()), TableOf(WordPieceFile())); }

// So many merges whose places are among the first of their table.
Tokenizer CrowdedMerges(size_t count) {
  Tokenizer tokenizer;
  tokenizer.model = abi::TokenModel::kBpe;
  for (uint32_t left = 0; tokenizer.merges.size() < count; ++left) {
    if (abi::HashOfPair(left, 1) < 1U << 24) tokenizer.merges.push_back({left, 1, left});
  }
  return tokenizer;
}

TEST(Tokens, EntriesThatTakeOnePlaceAreRefused) {
  EXPECT_EQ(WriteTable(CrowdedMerges(5000)).status().code(), base::kResourceExhausted);
  Tokenizer words;
  words.unknown = "?";
  words.vocabulary["?"] = 0;
  for (uint32_t id = 1; words.vocabulary.size() < 5000; ++id) {
    const std::string word = std::to_string(id);
    uint64_t hash = abi::kWordHash;
    for (const char c : word) hash = abi::HashByte(hash, static_cast<uint8_t>(c));
    if (abi::Mixed(hash) < 1U << 24) words.vocabulary[word] = id;
  }
  EXPECT_EQ(WriteTable(words).status().code(), base::kResourceExhausted);
}

TEST(Tokens, WhatIsNotRefusedIsFound) {
  const Tokenizer tokenizer = CrowdedMerges(abi::kMostProbes);
  const auto written = WriteTable(tokenizer);
  ASSERT_TRUE(written.ok()) << written.status().message();
  nodes::TokenTable table;
  ASSERT_TRUE(table.Open(View(*written), abi::TokenModel::kBpe));
  for (const Merge& merge : tokenizer.merges) {
    const auto found = table.FindMerge(merge.left, merge.right);
    ASSERT_TRUE(found.has_value()) << merge.left;
    EXPECT_EQ(found->id, merge.id);
  }
  EXPECT_FALSE(table.FindMerge(tokenizer.merges.front().left, 2).has_value());
}

// Under sanitizers, whatever the table says must stay within it.
TEST(Tokens, TablesOfOtherBytesDoNoHarm) {
  std::mt19937 dice(11);
  for (const auto& [native, good] :
       {std::pair<Native, std::string>(wf_n_wordpiece, TableOf(WordPieceFile(R"("normalizer": {"type": "BertNormalizer"}, )"))),
        std::pair<Native, std::string>(wf_n_unigram, TableOf(UnigramFile(R"("normalizer": {"type": "Nmt"}, )"))),
        std::pair<Native, std::string>(wf_n_bpe,
                                       TableOf(BpeFile(R"("added_tokens": [{"id": 7, "content": "<x>", "special": true}], )")))}) {
    for (int round = 0; round < 20'000; ++round) {
      std::string table = good;
      for (int change = 0; change < 3; ++change) table[dice() % table.size()] = static_cast<char>(dice());
      if (round % 4 == 0) table.resize(dice() % table.size());
      FakeJob job;
      job.budget = 1 << 20;
      static_cast<void>(Encode(job, native, {table}, "undone É <x> abab \u4f60 ab"));
      FakeJob other;
      other.budget = 1 << 20;
      const wf_bytes by = View(table);
      std::vector<int64_t> ids{0, 5, 3, 2'000'000'000, 1};
      const wf_tensor some = nodes::Vector(ids, WF_I64);
      const uint8_t special = 1;
      wf_bytes text{};
      static_cast<void>(wf_n_detokenise(&other.ctx, &some, &by, &special, &text));
    }
  }
}

TEST(Tokens, StopWhenToldTo) {
  const std::string words(4'000'000, 'a');
  FakeJob job;
  job.stop = 1;
  EXPECT_EQ(Encode(job, wf_n_bpe, {TableOf(BpeFile())}, words), WF_FAILED);
}

TEST(Tokens, FailBeyondTheBudget) {
  std::string words;
  for (int i = 0; i < 10'000; ++i) words += "é ab";
  for (const auto& [native, table] :
       {std::pair<Native, std::string>(wf_n_wordpiece, TableOf(WordPieceFile(R"("normalizer": {"type": "BertNormalizer"}, )"))),
        std::pair<Native, std::string>(wf_n_unigram, TableOf(UnigramFile())),
        std::pair<Native, std::string>(wf_n_bpe, TableOf(BpeFile()))}) {
    FakeJob whole;
    ASSERT_EQ(Encode(whole, native, {table}, words), 0) << whole.message;
    const uint64_t needed = FakeJob().budget - whole.budget;
    for (uint64_t budget = 0; budget < needed; budget += needed / 50 + 1) {
      FakeJob job;
      job.budget = budget;
      EXPECT_EQ(Encode(job, native, {table}, words), WF_FAILED);
      EXPECT_EQ(job.code, 3012);
    }
  }
}

}  // namespace
}  // namespace wf::tokens
