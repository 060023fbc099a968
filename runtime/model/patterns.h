#pragma once

#include <span>
#include <vector>

#include "runtime/model/program.h"

namespace wf::model {

// What files write out as several nodes of f32 becomes one, which has a kernel: Gelu by Erf, x sigmoid(x), a product times a number,
// attention, a sum that is normalised.
// gone: nodes that are done; those that are left out are marked. Errors: a constant cannot be read.
base::Status JoinWrittenOut(Program& program, std::span<const onnx::Known> known, std::vector<bool>& gone);

}  // namespace wf::model
