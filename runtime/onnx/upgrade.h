#pragma once

#include <vector>

#include "runtime/base/status.h"
#include "runtime/onnx/onnx.pb.h"

// Inside the reader: nodes of ai.onnx as opsets 1 to 6 had them, written as opset 7 has them, and Scan of opset 8 as opset 9 has it, so
// that rules and lowerings know one form.
namespace wf::onnx {

inline constexpr int kOldestForm = 7;  // of opset, that a Node has

// Whether Upgrade has something to look at.
bool IsOldForm(const pb::NodeProto& node, int opset);

// `nodes`: what computes the same, the node itself last, those before it with values named behind its first output.
// Errors: kUnimplemented for what opset 7 cannot say, kInvalidArgument; text without file and node.   Cost: a copy of the node.
base::Status Upgrade(const pb::NodeProto& node, int opset, std::vector<pb::NodeProto>& nodes);

}  // namespace wf::onnx
