#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/base/status.h"
#include "runtime/kernels/texts.h"
#include "runtime/onnx/graph.h"

namespace wf::model {

// The strings of an instance's runs, and how they come in and go out: outside of a version an element of onnx::kStringType is a
// std::string_view, inside its number.
// Thread: one at a time.   Owns: the numbers of inputs, the views of outputs.   Borrows: the strings of the file; of a run, those of
// inputs.
class TextBorder {
 public:
  explicit TextBorder(std::span<const std::string> of_file) : texts_(of_file) {}

  kernels::Texts& texts() { return texts_; }
  // Forgets the run before. Those of `inputs` that hold strings get numbers for elements. Errors: kResourceExhausted.
  base::Status Begin(std::vector<wf_tensor>& inputs);
  // The results with strings get views for elements, which stay until Begin.
  void End(std::span<const onnx::Port> ports, std::span<wf_tensor> outputs);

 private:
  kernels::Texts texts_;
  std::vector<std::shared_ptr<uint8_t>> numbers_;
  std::vector<std::vector<std::string_view>> views_;
};

}  // namespace wf::model
