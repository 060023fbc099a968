#pragma once

#include <string>

#include "compiler/tokens/tokenizer.h"
#include "runtime/base/status.h"

namespace wf::tokens {

// The bytes of runtime/abi/token_table.h; the same for the same tokenizer. Errors: kResourceExhausted over 4 GiB, and for
// entries that were made to take one place.
// Cost: O(vocabulary + merges).
base::Result<std::string> WriteTable(const Tokenizer& tokenizer);

}  // namespace wf::tokens
