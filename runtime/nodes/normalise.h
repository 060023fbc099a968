#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/abi/token_table.h"
#include "runtime/nodes/scratch.h"

namespace wf::nodes {

// Does the steps of a tokenizer to one text after the other, each in the memory of the one before.
// Thread: confined to the call.   Borrows: steps.   Errors: false when the budget is spent (recorded).
// Cost: O(text), but O(n log n) for n combining marks in a row; 8 bytes a character, of texts that are not ASCII.
class Normaliser {
 public:
  Normaliser(wf_ctx* ctx, const abi::TextStep* steps) : steps_(steps), points_(ctx), more_(ctx), out_(ctx) {}

  // `begins_with_space`: a result that begins with no ' ' gets one. It stands until the next call.
  bool Run(std::string_view text, bool begins_with_space, std::string_view* result);

 private:
  bool RunAscii(std::string_view text);
  bool Do(abi::TextStep step);
  bool Clean();
  bool SpaceIdeographs();
  bool Decompose(bool is_compat);
  void SortMarks();
  bool Lowercase();
  template <typename Goes>
  void Drop(Goes goes);
  bool Decode(std::string_view text);
  bool Encode();

  const abi::TextStep* steps_;
  Scratch<int32_t> points_, more_;
  Scratch<char> out_;
};

}  // namespace wf::nodes
