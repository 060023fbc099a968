#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// A file that holds one tensor (TensorProto), as the test data of models does: its elements are in `bytes`. Errors: kNotFound,
// kPermissionDenied; kInvalidArgument for bytes that are no sound tensor; kUnimplemented for an element type that is not built; external
// data is refused. The text names the file.   Bounds: memory is a small multiple of the file, which has at most kMostTensorBytes.
base::Result<Weight> ReadTensorFile(const std::string& path);

// The same for a value that may be a sequence of tensors (SequenceProto) or optional (OptionalProto).
struct FileValue {
  std::vector<Weight> tensors;     // of a sequence each; of anything else the one
  std::vector<std::string> texts;  // what elements that are strings are numbers of
  bool is_absent = false;          // it is optional, and not there
};
base::Result<FileValue> ReadValueFile(const std::string& path, bool is_optional, bool is_sequence);

// The same as the first from memory; `name` stands for the path in messages.
base::Result<Weight> ReadTensorBytes(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace wf::onnx
