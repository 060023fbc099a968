#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/workbench/session.h"
#include "runtime/workbench/tensor.h"

namespace wf::workbench {

// A regular file, whole. Errors: those of onnx::OpenFile; kOutOfRange above onnx::kMostTensorBytes and a little.
base::Result<std::vector<uint8_t>> ReadFile(const std::string& path);
base::Status WriteFile(const std::string& path, std::string_view bytes);

// Inputs of a model from files: `NAME=FILE`, or `FILE` for the next that none is named for. A .npy or .pb holds one tensor; a .json file
// that stands for itself holds all, by name (json.h). Errors: a file that cannot be read, an element type that is not the input's, an input
// that is given twice or not at all; the text names file and input.
base::Result<std::vector<Tensor>> ReadInputs(std::span<const std::string> given, const onnx::Signature& signature);

// A file for each output, NAME.npy in `folder`, which is made where it is missing; what no file's name has is `_` in NAME.
// Errors: a file that cannot be written.
base::Status WriteOutputs(const std::string& folder, const onnx::Signature& signature, std::span<const Tensor> outputs);

}  // namespace wf::workbench
