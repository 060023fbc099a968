#pragma once

#include <map>
#include <span>
#include <string>

#include "runtime/onnx/infer.h"

namespace wf::onnx {

// The symbols of extents that count what a node finds in the data of a run (the elements that are not 0, the boxes that are kept), and that
// node. What a node makes of shapes alone it does not find: `NonZero(ConstantOfShape(n))` counts to n.   Cost: one walk over the nodes.
// `known`: of InferShapes.   Borrows: the graph.
using Counts = std::map<std::string, const Node*>;
Counts FindCounts(const Graph& graph, std::span<const Known> known);

}  // namespace wf::onnx
