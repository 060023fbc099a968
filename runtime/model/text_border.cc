#include "runtime/model/text_border.h"

#include <algorithm>

#include "runtime/abi/plan.h"
#include "runtime/abi/view.h"
#include "runtime/kernels/memory.h"

namespace wf::model {

using base::Status;

static_assert(onnx::kStringType == WF_TEXTS);

namespace {

int64_t ElementsOf(const wf_tensor& tensor) {
  int64_t count = 1;
  for (int axis = 0; axis < tensor.rank; ++axis) count *= tensor.dim[axis];
  return count;
}

}  // namespace

void TextBorder::Clear() {
  texts_.Clear();
  numbers_.clear();
  outputs_.clear();
}

Status TextBorder::Begin(std::vector<wf_tensor>& inputs) {
  Clear();
  const auto no_memory = [] { return Status(base::kResourceExhausted, "no memory for the strings of the inputs"); };
  for (wf_tensor& input : inputs) {
    if (input.dtype != onnx::kStringType) continue;
    const int64_t count = ElementsOf(input);
    numbers_.push_back(kernels::Allocate(std::max<int64_t>(count, 1) * int64_t{sizeof(int64_t)}));
    if (numbers_.back() == nullptr) return no_memory();
    auto* const numbers = reinterpret_cast<int64_t*>(numbers_.back().get());
    const auto* const elements = static_cast<const wf_bytes*>(input.data);
    for (int64_t i = 0; i < count; ++i) {
      numbers[i] = texts_.Number(abi::View(elements[i]));
      if (numbers[i] < 0) return no_memory();
    }
    input.data = numbers;
  }
  return Status::Ok();
}

void TextBorder::End(std::span<const onnx::Port> ports, std::span<wf_tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (onnx::IsNarrow(ports[i].dtype)) outputs[i].dtype = ports[i].dtype;  // its elements are what they were
    if (ports[i].dtype != onnx::kStringType) continue;
    const auto* const numbers = static_cast<const int64_t*>(outputs[i].data);
    std::vector<wf_bytes>& elements = outputs_.emplace_back();
    for (int64_t at = 0, count = ElementsOf(outputs[i]); at < count; ++at) elements.push_back(abi::BytesOf(texts_.At(numbers[at])));
    outputs[i].data = elements.data();
    outputs[i].dtype = onnx::kStringType;
  }
}

}  // namespace wf::model
