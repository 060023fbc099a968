#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/abi/token_table.h"

namespace wf::tokens {

struct Added {
  std::string text;
  uint32_t id = 0;
  bool trims_left = false, trims_right = false;
  bool is_normalised = false;  // looked for after the others
  bool is_special = false;
};

struct Merge {
  uint32_t left, right, id;  // in the order of their ranks
};

// The type of std.text that holds its table.
constexpr const char* NameOf(abi::TokenModel model) {
  switch (model) {
    case abi::TokenModel::kWordPiece:
      return "WordPiece";
    case abi::TokenModel::kBpe:
      return "Bpe";
    case abi::TokenModel::kUnigram:
      break;
  }
  return "Unigram";
}

// What a file says, with nothing left to look up.
struct Tokenizer {
  abi::TokenModel model = abi::TokenModel::kWordPiece;
  abi::TokenSplit split = abi::TokenSplit::kBert;
  std::vector<abi::TextStep> steps;
  uint32_t flags = 0;  // abi::TokenFlags
  std::unordered_map<std::string, uint32_t> vocabulary;
  std::string continuation = "##";  // WordPiece: begins what stands within a word
  std::string unknown;              // WordPiece always has one, Unigram none
  uint32_t unknown_id = 0;          // Unigram
  uint32_t longest_word = 100;      // WordPiece
  std::vector<Merge> merges;        // BPE
  std::vector<double> scores;       // Unigram, by id
  std::string map;                  // for kMapCharacters
  bool falls_back = false;          // Unigram: unknown characters become bytes
  std::vector<Added> added;
  std::vector<uint32_t> before, after;
  uint32_t most = 0;
  abi::TokenJoin join = abi::TokenJoin::kSpaces;
  std::string joined_prefix;  // kSpaces: what begins tokens that have no space before them, which then goes
  bool cleans_up = false;     // kSpaces: nor have `.`, `?` and their kind
};

}  // namespace wf::tokens
