#pragma once

#include "runtime/model/part.h"

namespace wf::model {

// The part that is one If, Loop or Scan: walks through its bodies.
// Bounds: those of the budget; results that turns add up have limits.max_bytes.
base::Result<std::unique_ptr<Part>> MakeControlPart(const Program& program, size_t index, const PartLimits& limits);

}  // namespace wf::model
