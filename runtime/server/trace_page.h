#pragma once

#include "runtime/base/sink.h"
#include "runtime/base/slices.h"

namespace wf::server {

// A recording in the format of chrome://tracing, which Perfetto reads too: complete events, in lanes where they lie within one another or
// apart. A lane is a thread, a slot of requests in flight (as many as there were at once), or a slot of rows that wait for their batch.
void TracePage(const base::SliceRecording& recording, wf_sink* out);

}  // namespace wf::server
