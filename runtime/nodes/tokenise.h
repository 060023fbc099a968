#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/nodes/nodes.h"
#include "runtime/nodes/scratch.h"
#include "runtime/nodes/split_words.h"
#include "runtime/nodes/token_table.h"

namespace wf::nodes {

// What a model does: the ids of one word.
// Thread: confined to the call.   Errors: false when the job has failed (recorded) or is stopped.
class WordEncoder {
 public:
  virtual bool Add(const Word& word, Scratch<int64_t>& ids) = 0;

 protected:
  ~WordEncoder() = default;
};

struct TokenCall {
  wf_ctx* ctx;
  const TokenTable& table;
  std::string_view text;
  wf_optional_i64 most;
  bool special;  // the ids around the text, too
};

// What all models share: added tokens are found, what is between them is normalised and cut into words, ids are put around it. With a
// limit, what is behind it is not looked at. Errors: 7000 when the limit does not hold the ids around.   Cost: O(text), the model's apart;
// text is normalised some 4 KiB at a time.
wf_code Tokenise(const TokenCall& call, WordEncoder& encoder, wf_tensor* ids);

}  // namespace wf::nodes
