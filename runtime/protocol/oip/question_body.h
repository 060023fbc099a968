#pragma once

#include <string_view>

#include "runtime/abi/plan.h"

namespace wf::oip {

// What the bodies of questions to the repository say: JSON, perhaps none, or the message of the call.
struct QuestionBody {
  wf_bytes bytes;
  bool is_message = false;
};

wf_code ReadIndexRequest(wf_ctx* scratch, QuestionBody body, bool* ready_only);
inline constexpr std::string_view kNothingIsLoaded = "a model's files and configuration are those of the program; load takes no parameters";
// Errors: 3000 for parameters: files and configurations are the program's.
wf_code CheckLoad(wf_ctx* scratch, QuestionBody body);

}  // namespace wf::oip
