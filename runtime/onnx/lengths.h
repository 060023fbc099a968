#pragma once

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// Values, and elements that are followed, of all shape inferences together; a file that takes more says nothing.
constexpr int64_t kMostLengthWork = int64_t{1} << 22;

// The first input or output whose axis 0 may have another extent in a run than that of the first input; null: none may. It has the same
// where the file calls both by one name, and where the nodes show it: they refuse inputs of two extents, and give outputs that are as long
// as the inputs, whatever that is. Null `graph`: there are no nodes to ask. REQUIRES: axis 0 of every input is one symbol.
const Port* FindUnlikeFirst(const Signature& file, const Graph* graph);

}  // namespace wf::onnx
