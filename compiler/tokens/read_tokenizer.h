#pragma once

#include <string_view>

#include "compiler/tokens/tokenizer.h"
#include "runtime/base/status.h"

namespace wf::tokens {

// Reads a tokenizer.json of Hugging Face's `tokenizers`, or a vocab.txt of BERT, one token a line, which is taken to be lower-cased.
// REQUIRES: UTF-8. Errors: kInvalidArgument when the file is broken; kUnimplemented with what it asks for that there is not.   Cost: one
// pass.
base::Result<Tokenizer> ReadTokenizer(std::string_view content);
base::Result<Tokenizer> ReadVocabulary(std::string_view content);

}  // namespace wf::tokens
