#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/abi/token_table.h"

namespace wf::nodes {

struct Word {
  std::string_view text;  // empty: there is none
  uint64_t characters;    // where the way of cutting needs them
};

// The words of a text, one after the other; a word is never empty.
// Thread: confined to the call.   Borrows: text.   Cost: O(text) for all.
class WordSplitter {
 public:
  WordSplitter(abi::TokenSplit split, std::string_view text) : split_(split), text_(text) {}
  Word Next();

 private:
  Word Take(size_t length);
  Word NextOfBert();
  size_t LengthOfMarked() const;
  size_t LengthOfGpt2() const;
  size_t LengthOfGpt4(size_t most_digits) const;

  abi::TokenSplit split_;
  std::string_view text_;  // what is left
};

}  // namespace wf::nodes
