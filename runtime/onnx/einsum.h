#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace wf::onnx {

// The labels of an Einsum's axes as numbers: those of the output are 0, 1, ... in their order, the others follow.
struct EinsumLabels {
  std::vector<std::vector<size_t>> in;
  size_t out_rank = 0, labels = 0;
};
// ranks: of the inputs. Errors: kInvalidArgument, text without file and node, for an equation that does not fit them.
base::Result<EinsumLabels> ParseEinsum(std::string_view equation, std::span<const size_t> ranks);

}  // namespace wf::onnx
