#pragma once

#include <string>

#include "runtime/onnx/onnx.pb.h"

namespace wf::onnx {

// Why node `reader` of the graph finds nothing under `value`: a node below provides it, the graph runs in a circle, or nothing does.
std::string WhyAbsent(const pb::GraphProto& graph, int reader, const std::string& value);

}  // namespace wf::onnx
