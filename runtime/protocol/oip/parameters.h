#pragma once

#include <string_view>

#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// The parameters of an input and of an output that mean something, in both dialects; others say nothing. A call's are InferRequest's.
inline constexpr std::string_view kInputParameters[] = {"content_type", "shared_memory_region"};
inline constexpr std::string_view kOutputParameters[] = {"classification", "binary_data", "shared_memory_region"};

// One of them, by its index. `in`: where its value stands, as JSON; what a message says is written so first.
// Errors: 5000, with the place; 3000 for shared memory.
wf_code ReadInputParameter(wf_json* in, uint32_t index, GivenInput* input);
wf_code ReadOutputParameter(wf_json* in, uint32_t index, AskedOutput* asked);

}  // namespace wf::oip
