#pragma once

#include "runtime/observe/metrics.h"

namespace wf::observe {

// The process_* families: CPU time, memory, descriptors, start.
// Thread: any.   Cost: reads /proc; O(open descriptors). What /proc does not tell is left out.
void AddProcess(MetricsText* out);

}  // namespace wf::observe
