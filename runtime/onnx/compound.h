#pragma once

#include <vector>

#include "runtime/base/status.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/operators.h"

// Inside the reader: nodes of com.microsoft that say in one what several say, written as these, so that rules and lowerings need not know
// them. What is quantised around an operator becomes the form of QDQ, which quantised.cc in runtime/model joins again.
namespace wf::onnx {

bool IsCompound(const OperatorRow& row, const pb::NodeProto& node);

// `standard`: the opset of ai.onnx that the node's graph imports. `nodes`: those that compute the same, with values named behind its first
// output. REQUIRES: as many inputs and outputs as the row says. Errors: kUnimplemented for what they cannot say, kInvalidArgument; text
// without file and node.   Cost: copies of its attributes.
base::Status WriteOutCompound(const pb::NodeProto& node, const OperatorRow& row, int standard, std::vector<pb::NodeProto>& nodes);

}  // namespace wf::onnx
