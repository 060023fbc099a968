#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/base/status.h"
#include "runtime/kernels/texts.h"
#include "runtime/onnx/graph.h"

namespace wf::model {

// The strings of an instance's runs, and how they come in and go out: outside of a version an element of onnx::kStringType is a
// wf_bytes, inside its number.
// Thread: one at a time.   Owns: the numbers of inputs, the elements of outputs.   Borrows: the strings of the file; of a run, those of
// inputs.
class TextBorder {
 public:
  explicit TextBorder(std::span<const std::string> of_file) : texts_(of_file) {}

  kernels::Texts& texts() { return texts_; }
  void Clear();  // forgets the run before
  // Does so. Those of `inputs` that hold strings get numbers for elements. Errors: kResourceExhausted.
  base::Status Begin(std::vector<wf_tensor>& inputs);
  // The results with strings get what the numbers stand for, which stays until it is forgotten.
  void End(std::span<const onnx::Port> ports, std::span<wf_tensor> outputs);

 private:
  kernels::Texts texts_;
  std::vector<std::shared_ptr<uint8_t>> numbers_;
  std::vector<std::vector<wf_bytes>> outputs_;
};

}  // namespace wf::model
