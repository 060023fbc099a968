#pragma once

#include "runtime/server/workflow_site.h"

namespace wf::server {

// A call of `infer` in any dialect of the Open Inference Protocol, from its bytes to the engine: `read` reads it into exchange.infer, on
// another thread where that is `long_work`.
void StartInfer(WorkflowSite& site, Exchange& exchange, wf_bytes body, WorkflowSite::ReadFunction read, bool long_work);

// The failure that was recorded in `scratch` becomes the refusal of the exchange.
void RefuseWith(Exchange& exchange, bus::Bus& scratch, wf_code code);

}  // namespace wf::server
