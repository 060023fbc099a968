#pragma once

#include "compiler/tokens/json_tree.h"
#include "compiler/tokens/tokenizer.h"

namespace wf::tokens {

base::Status Unsupported(std::string what);  // kUnimplemented: "the normalizer `Nmt`"
base::Status Broken(std::string text);
std::string Quoted(std::string_view text);

// The members of a tokenizer.json but for its model, which may each be null. Errors: kInvalidArgument, kUnimplemented.
base::Status ReadNormalizer(const Json& normalizer, Tokenizer& out);
base::Status ReadPreTokenizer(const Json& splitter, Tokenizer& out);
base::Status ReadPostProcessor(const Json& processor, Tokenizer& out);
base::Status ReadTruncation(const Json& truncation, Tokenizer& out);
base::Status ReadPadding(const Json& padding);
void ReadDecoder(const Json& decoder, Tokenizer& out);                       // of one that is not known only the way back is missing
base::Status ReadAdded(const Json& added, bool normalises, Tokenizer& out);  // normalises: the file has a normalizer

}  // namespace wf::tokens
