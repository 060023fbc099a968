#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/abi/char_map.h"
#include "runtime/abi/token_table.h"
#include "runtime/nodes/scratch.h"

namespace wf::nodes {

// Bytes of `text` up to a single space behind some thousands of them, which no step looks over, and where every way of cutting into words
// cuts; all of them when there is none.
size_t LengthOfBlock(std::string_view text);

// Does the steps of a tokenizer to one text after the other, each in the memory of the one before.
// Thread: confined to the call.   Borrows: steps.   Errors: false when the budget is spent (recorded), or the job is stopped.
// Cost: O(text), but O(n log n) for n combining marks in a row; 8 bytes a character, of texts that are not ASCII.
class Normaliser {
 public:
  // map: for kMapCharacters; keeps_ascii: it leaves ASCII that can be seen as it is, and ' '.
  Normaliser(wf_ctx* ctx, const abi::TextStep* steps, abi::CharMap map = abi::CharMap({}), bool keeps_ascii = false);

  // Whether a step looks at the ends of the text, so that it cannot be given in blocks.
  bool needs_whole() const { return Has(abi::TextStep::kStripStart) || Has(abi::TextStep::kStripEnd); }
  // A result that begins with no ' ', or with no mark for it, gets one if `lead` says so. It stands until the next call.
  enum class Lead : uint8_t { kNone, kSpace, kSpaceIfFirstStays };  // the last: unless the first character of text has gone
  bool Run(std::string_view text, Lead lead, std::string_view* result);

 private:
  bool Has(abi::TextStep step) const { return has_[static_cast<uint8_t>(step)]; }
  bool RunAscii(std::string_view text);
  bool ArrangeAsciiSpaces();
  bool Do(abi::TextStep step);
  bool Clean();
  void CleanAsSentencePiece();
  bool MarkWords();
  bool MapCharacters();
  uint64_t EndOfCluster(uint64_t begin);
  bool PushMapped(std::string_view text, bool* is_mapped);
  bool IsQuick(std::string_view text) const;
  bool SpaceIdeographs();
  bool Decompose(bool is_compat);
  void SortMarks();
  bool Lowercase();
  template <typename Goes>
  void Drop(Goes goes);
  bool Decode(std::string_view text);
  bool Encode();

  bool IsStopped(uint64_t turn) const;

  wf_ctx* ctx_;
  const abi::TextStep* steps_;
  abi::CharMap map_;
  bool keeps_ascii_;
  bool lost_first_ = false;  // of the text of this call
  std::array<bool, 32> has_{};
  std::string_view space_;  // ' ' or the mark for it
  Scratch<int32_t> points_, more_;
  Scratch<char> out_, copy_;
};

}  // namespace wf::nodes
