#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/tokens/json_tree.h"
#include "compiler/tokens/tokenizer.h"

namespace wf::tokens {

// `model` of a tokenizer.json, whose members stand in any order. Errors: kInvalidArgument, kUnimplemented.
base::Status ReadModel(source::JsonScanner& scanner, Tokenizer& out);

// What each byte is in the vocabularies of byte-level BPE: a character that can be seen.
char32_t CharacterOf(uint8_t byte);

}  // namespace wf::tokens
