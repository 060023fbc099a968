#include <gtest/gtest.h>

#include <set>

#include "compiler/tokens/read_model.h"
#include "compiler/tokens/read_tokenizer.h"
#include "tests/unit/compiler/tokens/files.h"

namespace wf::tokens {
namespace {

using abi::TextStep;

Tokenizer Read(const std::string& file) {
  auto read = ReadTokenizer(file);
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? *std::move(read) : Tokenizer();
}

TEST(ReadTokenizer, TakesPartsInAnyOrder) {
  const Tokenizer one = Read(R"({"model": {"vocab": {"[UNK]": 7}, "type": "WordPiece"}, "normalizer": {"type": "Lowercase"},
      "pre_tokenizer": {"type": "BertPreTokenizer"}, "unheard of": [1, {"x": null}]})");
  EXPECT_EQ(one.model, abi::TokenModel::kWordPiece);
  EXPECT_EQ(one.steps, std::vector{TextStep::kLowercase});
  EXPECT_EQ(one.longest_word, 100U);
  EXPECT_EQ(one.vocabulary.at("[UNK]"), 7U);
}

TEST(ReadTokenizer, AccentsGoWithCapitalsUnlessItSaysOtherwise) {
  const auto steps = [](const std::string& members) {
    return Read(WordPieceFile(R"("normalizer": {"type": "BertNormalizer")" + members + "}, ")).steps;
  };
  const std::vector all{TextStep::kClean, TextStep::kSpaceIdeographs, TextStep::kDecompose, TextStep::kDropNonspacing,
                        TextStep::kLowercase};
  EXPECT_EQ(steps(""), all);
  EXPECT_EQ(steps(R"(, "strip_accents": null)"), all);
  EXPECT_EQ(steps(R"(, "lowercase": false)"), (std::vector{TextStep::kClean, TextStep::kSpaceIdeographs}));
  EXPECT_EQ(steps(R"(, "clean_text": false, "handle_chinese_chars": false, "strip_accents": false)"), std::vector{TextStep::kLowercase});
}

TEST(ReadTokenizer, MergesArePairsOrTextsWithASpace) {
  for (const std::string merges : {R"(["a b", "ab ab"])", R"([["a", "b"], ["ab", "ab"]])"}) {
    const Tokenizer read = Read(R"({"pre_tokenizer": {"type": "ByteLevel"}, "model": {"merges": )" + merges +
                                R"(, "vocab": {"a": 0, "b": 1, "ab": 2, "abab": 9}}})");
    ASSERT_EQ(read.merges.size(), 2U) << merges;
    EXPECT_EQ(read.merges[1].left, 2U);
    EXPECT_EQ(read.merges[1].id, 9U);
    EXPECT_EQ(read.flags, abi::kSpaceBefore);
  }
}

TEST(ReadTokenizer, SaysWhatIsBroken) {
  const std::string begin = R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece", )";
  for (const std::string& file : std::initializer_list<std::string>{
           std::string(),
           std::string("[]"),
           std::string("{} x"),
           WordPieceFile(R"("model": {"type": "BPE", "vocab": {}}, )"),
           begin + R"("vocab": {"a": 0}}})",
           begin + R"("vocab": {"[UNK]": 0.5}}})",
           begin + R"("vocab": {"[UNK]": 2147483648}}})",
           begin + R"("vocab": {"[UNK]": 0}, "max_input_chars_per_word": "7"}})",
           begin + R"("vocab": {"[UNK]": 0, "\ud800": 1}}})",
           begin + "}}",
           WordPieceFile(R"("truncation": {"max_length": 0}, )"),
           WordPieceFile(R"("added_tokens": [{"id": 3}], )"),
           WordPieceFile(R"("added_tokens": [{"id": 3, "content": 7}], )"),
           WordPieceFile(R"("post_processor": {"type": "BertProcessing", "sep": ["x", 1]}, )"),
           WordPieceFile(R"("post_processor": {"type": "Sequence"}, )"),
           BpeFile("", R"("unk_token": "missing", )"),
           UnigramFile("", R"("unk_id": 7, )"),
           UnigramFile(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAA="}, )"),
           UnigramFile(R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "BAAAAAE"}, )"),
           UnigramFile("", R"("unk_id": "a", )"),
           R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": []}})",
           R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": {"a": 0}}})",
           R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a"]]}})",
           R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 1, 2]]}})",
           R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", "1"]]}})",
           R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 1e999]]}})",
           R"({"pre_tokenizer": {"type": "BertPreTokenizer"}, "model": {"type": "WordPiece", "vocab": [["[UNK]", 0]]}})",
       }) {
    const auto read = ReadTokenizer(file);
    ASSERT_FALSE(read.ok()) << file;
    EXPECT_EQ(read.status().code(), base::kInvalidArgument) << file << ": " << read.status().message();
  }
}

TEST(ReadTokenizer, SaysWhatThereIsNot) {
  for (
      const std::string& file : std::initializer_list<std::string>{
          UnigramFile("", ""),
          UnigramFile("", R"("unk_id": null, )"),
          UnigramFile(R"("normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}, )"),
          WordPieceFile(R"("normalizer": {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, )"),
          R"({"pre_tokenizer": {"type": "Metaspace", "replacement": "_"}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0]]}})",
      }) {
    const auto read = ReadTokenizer(file);
    ASSERT_FALSE(read.ok()) << file;
    EXPECT_EQ(read.status().code(), base::kUnimplemented) << file << ": " << read.status().message();
  }
}

TEST(ReadTokenizer, NestingIsBounded) {
  const std::string deep(100'000, '[');
  for (const std::string& file : std::initializer_list<std::string>{R"({"normalizer": )" + deep, R"({"model": {"x": )" + deep, deep})
    EXPECT_FALSE(ReadTokenizer(file).ok());
}

TEST(ReadVocabulary, NumbersLines) {
  const auto read = ReadVocabulary("[PAD]\r\n[CLS]\n[SEP]\n[UNK]\nx");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->vocabulary.at("x"), 4U);
  EXPECT_EQ(read->before, std::vector{1U});
  EXPECT_EQ(read->after, std::vector{2U});
  EXPECT_EQ(read->added.size(), 4U);
  EXPECT_FALSE(ReadVocabulary("[CLS]\n[SEP]\nx").ok());
  EXPECT_FALSE(ReadVocabulary("[CLS]\n[SEP]\n[UNK]\n[SEP]").ok());
}

TEST(CharacterOf, EachByteHasOneOfItsOwn) {
  std::set<char32_t> all;
  for (int byte = 0; byte < 256; ++byte) all.insert(CharacterOf(static_cast<uint8_t>(byte)));
  EXPECT_EQ(all.size(), 256U);
  EXPECT_EQ(*all.rbegin(), 323U);
  EXPECT_EQ(CharacterOf(' '), U'\u0120');
  EXPECT_EQ(CharacterOf('a'), U'a');
  EXPECT_EQ(CharacterOf(0xad), 323U);
}

}  // namespace
}  // namespace wf::tokens
