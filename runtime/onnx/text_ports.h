#pragma once

#include <functional>

#include "runtime/onnx/graph.h"
#include "runtime/onnx/signature.h"

namespace wf::onnx {

// Which inputs and outputs of strings a model is taken with.
enum class TextPorts : uint8_t {
  kNone,
  kOfCalls,  // without the axis of samples a string, or a list of them
  kAll,
};

// Outputs of strings for whose places `leaves` holds are no outputs any more; their names go to left_out. False, and nothing is done: none
// would be left of all outputs.
bool LeaveOutTexts(Model& model, const std::function<bool(size_t)>& leaves);

// Leaves out what `wanted` does not take, and where a signature is written with fewer outputs than the file has, outputs of strings that it
// does not name; what stays chooses the batch axis. Errors: those of ChooseBatchAxis; kUnimplemented for an input that is not taken, and
// where no output is left. They do not name the file.   Cost: as of ChooseBatchAxis.
base::Result<BatchAxes> ChoosePorts(Model& model, TextPorts wanted, const Signature* written = nullptr);

}  // namespace wf::onnx
