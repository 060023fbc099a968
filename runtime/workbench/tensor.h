#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/onnx/graph.h"

namespace wf::workbench {

// A dense tensor in memory as models take it; elements of onnx::kStringType are wf_bytes, those of types that are only stored lie
// in onnx::ElementType.   Thread: confined.   Owns: the elements, shared among copies.
struct Tensor {
  uint8_t dtype = 0;
  std::vector<int64_t> dim;
  std::shared_ptr<uint8_t> elements;

  int64_t count() const;
  int64_t size_bytes() const;
  wf_tensor View() const;
  std::string ToString() const;  // "f32[2, 3]"
};

// Errors: kUnimplemented for what is no element type; kOutOfRange for too many axes, or more than onnx::kMostTensorBytes, where an extent
// of 0 hides none of the others.
base::Status CheckShape(uint8_t dtype, const std::vector<int64_t>& dim);
// Zeroed. Errors: those of CheckShape, kResourceExhausted.
base::Result<Tensor> MakeTensor(uint8_t dtype, std::vector<int64_t> dim);
base::Result<Tensor> CopyOf(const wf_tensor& dense);
// texts: what the numbers of strings stand for. REQUIRES: weight.held
base::Result<Tensor> TensorOf(const onnx::Weight& weight, std::span<const std::string> texts = {});
base::Result<Tensor> MakeTexts(std::vector<std::string> texts, std::vector<int64_t> dim);  // as many as its extents say
std::string_view TextAt(const Tensor& tensor, int64_t at);                                 // REQUIRES: of strings

Tensor InHolder(const Tensor& tensor);  // the same elements as the type that they lie in

// Bools of a file are 0 or 1 from here on; other tensors stay as they are.
void MakeBools(Tensor& tensor);

// "[0, 3]" of the element at this place, "" for a scalar.
std::string IndexText(const std::vector<int64_t>& dim, int64_t at);

}  // namespace wf::workbench
