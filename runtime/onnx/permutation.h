#pragma once

#include <cstdint>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// By axis of the result of a Transpose, the axis of its input, as the node says: those of a `perm` need be none that the input has.
std::vector<int64_t> PermutationOf(const Node& node, size_t rank);

}  // namespace wf::onnx
