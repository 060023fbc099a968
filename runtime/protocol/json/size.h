#pragma once

#include "runtime/abi/plan.h"

namespace wf::json {

// About how many bytes the text of a value takes, to choose who writes it; what is over `enough` is not looked at.
// Cost: O(1) for scalars, texts and tensors; lists of others one look per element.
uint64_t TextBytes(const wf_type* types, uint32_t type, const void* value, uint64_t enough);

}  // namespace wf::json
