#pragma once

#include "runtime/abi/plan.h"

namespace wf::json {

// An empty array says nothing of the axes within it: their extents are what the signature's symbols are by other parameters, or as small as
// can be. frame: the root's, of which read_json has filled the slots of parameters. body_bytes: of the request, so that loops over the axes
// of an empty tensor end.
wf_code FillOpenAxes(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, void* frame, uint64_t body_bytes);
// The same where requests state all shapes: only defaults leave axes open.
wf_code FillOpenDefaults(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, void* frame);

}  // namespace wf::json
