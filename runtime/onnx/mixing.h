#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// The first node of the file, among those whose elements reach an output, that is certain to compute with elements of several samples, or
// with their number, when `axes` of the inputs count samples (BatchAxes::axis; -1: none of this one): what it gives for one depends on the
// others in its batch. Null: none is certain to, which does not say that none does.   Cost: one shape inference.   Borrows: the graph.
const Node* FindMixing(const Signature& signature, const Graph& graph, const std::vector<int8_t>& axes);

// Of what it found: "node `most` (ReduceMax) computes across it", the axis.
std::string MixingText(const Node& node);

}  // namespace wf::onnx
