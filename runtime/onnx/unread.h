#pragma once

#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// By value: a node reads it, or it is an output of the graph.
std::vector<bool> ReadValues(const Graph& graph);

// Makes outputs behind the first of a node absent where nothing reads them: tools name what an operator can give whether or not it is used.
// What is absent is neither checked nor computed. Not where outputs say what the node does: of an old BatchNormalization that it trains, of
// a step of training and of nodes with bodies how many values go through. REQUIRES: the graph and all that it has is read, so that it is
// known what bodies read from outside.
void LeaveOutUnread(Graph& graph);

}  // namespace wf::onnx
