#pragma once

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// The first node of the file, among those whose elements reach an output, that is certain to compute with elements of several samples when
// axis 0 of every input counts samples: what it gives for one depends on the others in its batch. Null: none is certain to, which does not
// say that none does. REQUIRES: axis 0 of every input is dynamic.   Cost: one shape inference.   Borrows: the graph of `model`.
const Node* FindMixing(const Model& model);

}  // namespace wf::onnx
