#pragma once

#include "runtime/protocol/oip/request.h"

namespace wf::oip {

inline constexpr int64_t kAllJson = -1;

struct RestBody {
  wf_bytes bytes;
  int64_t json_bytes = kAllJson;  // that raw tensors follow; 0: the body is the only input, raw
};

// Reads the body of an `infer` call over REST into `request`. 64 bytes behind it are readable.
// Errors: 5000, naming the member or input; 3000 for what is not built.
wf_code ReadRest(InferRequest* request, wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, const RestBody& body);

}  // namespace wf::oip
