#pragma once

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// Values, and elements that are followed, of all shape inferences together; a file that takes more says nothing.
constexpr int64_t kMostLengthWork = int64_t{3} << 22;

// An input or output, and the input that its axis 0 may be longer or shorter than.
struct Unlike {
  const Port* port = nullptr;  // null: there is none
  const Port* input = nullptr;
};

// The first whose axis 0 may have another extent in a run than that of the first input; those that no node reads are of any. It has the
// same where the file calls both by one name, and where the nodes show it: they refuse inputs of two extents, and give outputs that are as
// long as the inputs, whatever that is. Null `graph`: there are no nodes to ask. REQUIRES: axis 0 of every input is one symbol.
Unlike FindUnlikeFirst(const Signature& file, const Graph* graph);

}  // namespace wf::onnx
