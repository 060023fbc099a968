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
};

struct Merge {
  uint32_t left, right, id;  // in the order of their ranks
};

// What a file says, with nothing left to look up.
struct Tokenizer {
  abi::TokenModel model = abi::TokenModel::kWordPiece;
  abi::TokenSplit split = abi::TokenSplit::kBert;
  std::vector<abi::TextStep> steps;
  uint32_t flags = 0;  // abi::TokenFlags
  std::unordered_map<std::string, uint32_t> vocabulary;
  std::string continuation = "##";  // WordPiece: begins what stands within a word
  std::string unknown;              // WordPiece always has one
  uint32_t longest_word = 100;      // WordPiece
  std::vector<Merge> merges;        // BPE
  std::vector<Added> added;
  std::vector<uint32_t> before, after;
  uint32_t most = 0;
};

}  // namespace wf::tokens
