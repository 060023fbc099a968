#include "runtime/workbench/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "runtime/kernels/memory.h"
#include "runtime/onnx/infer.h"

namespace wf::workbench {

using base::Result;
using base::Status;

int64_t Tensor::count() const {
  int64_t count = 1;
  for (const int64_t extent : dim) count *= extent;
  return count;
}

namespace {

int64_t SizeOf(uint8_t dtype) { return dtype == onnx::kStringType ? abi::ElementBytes(dtype) : onnx::ElementSize(dtype); }

}  // namespace

int64_t Tensor::size_bytes() const { return count() * SizeOf(dtype); }

wf_tensor Tensor::View() const {
  wf_tensor view{};
  view.data = elements.get();
  view.dtype = dtype;
  view.rank = static_cast<uint8_t>(dim.size());
  int64_t stride = 1;
  for (size_t axis = dim.size(); axis-- > 0;) {
    view.dim[axis] = dim[axis];
    view.stride[axis] = stride;
    stride *= std::max<int64_t>(dim[axis], 1);
  }
  return view;
}

std::string Tensor::ToString() const {
  return dim.empty() ? onnx::TypeName(dtype) : fmt::format("{}[{}]", onnx::TypeName(dtype), fmt::join(dim, ", "));
}

Status CheckShape(uint8_t dtype, const std::vector<int64_t>& dim) {
  if (dim.size() > WF_MAX_RANK) return Status(base::kOutOfRange, fmt::format("{} axes, {} are the most", dim.size(), int{WF_MAX_RANK}));
  int64_t most = SizeOf(dtype);
  if (most == 0) return Status(base::kUnimplemented, fmt::format("tensors of {} are not built here", onnx::TypeName(dtype)));
  for (const int64_t extent : dim) {
    if (extent < 0 || __builtin_mul_overflow(most, std::max<int64_t>(extent, 1), &most) || most > onnx::kMostTensorBytes)
      return Status(base::kOutOfRange, fmt::format("{} has more than the {} bytes of a tensor", Tensor{dtype, dim, nullptr}.ToString(),
                                                   onnx::kMostTensorBytes));
  }
  return Status::Ok();
}

Result<Tensor> MakeTensor(uint8_t dtype, std::vector<int64_t> dim) {
  WF_RETURN_IF_ERROR(CheckShape(dtype, dim));
  Tensor tensor{dtype, std::move(dim), nullptr};
  tensor.elements = kernels::Allocate(std::max<int64_t>(tensor.size_bytes(), 1));
  if (tensor.elements == nullptr) return Status(base::kResourceExhausted, fmt::format("no memory for {}", tensor.ToString()));
  return tensor;
}

Result<Tensor> MakeTexts(std::vector<std::string> texts, std::vector<int64_t> dim) {
  WF_RETURN_IF_ERROR(CheckShape(onnx::kStringType, dim));
  Tensor tensor{onnx::kStringType, std::move(dim), nullptr};
  if (tensor.count() != static_cast<int64_t>(texts.size()))
    return Status(base::kInvalidArgument, fmt::format("{} strings for {}", texts.size(), tensor.ToString()));
  struct Held {
    std::vector<std::string> texts;
    std::vector<wf_bytes> elements;
  };
  const auto held = std::make_shared<Held>(Held{std::move(texts), {}});
  for (const std::string& text : held->texts) held->elements.push_back(abi::BytesOf(text));
  tensor.elements = std::shared_ptr<uint8_t>(held, reinterpret_cast<uint8_t*>(held->elements.data()));
  return tensor;
}

std::string_view TextAt(const Tensor& tensor, int64_t at) {
  return abi::View(reinterpret_cast<const wf_bytes*>(tensor.elements.get())[at]);
}

Result<Tensor> CopyOf(const wf_tensor& dense) {
  if (dense.dtype == onnx::kStringType) {
    const Tensor shape{dense.dtype, {dense.dim, dense.dim + dense.rank}, nullptr};
    std::vector<std::string> texts;
    for (int64_t at = 0; at < shape.count(); ++at) texts.emplace_back(abi::View(static_cast<const wf_bytes*>(dense.data)[at]));
    return MakeTexts(std::move(texts), shape.dim);
  }
  auto tensor = MakeTensor(dense.dtype, {dense.dim, dense.dim + dense.rank});
  if (tensor.ok() && tensor->size_bytes() > 0) std::memcpy(tensor->elements.get(), dense.data, static_cast<size_t>(tensor->size_bytes()));
  return tensor;
}

Result<Tensor> TensorOf(const onnx::Weight& weight, std::span<const std::string> texts) {
  WF_CHECK(weight.held, weight.name);
  if (weight.dtype == onnx::kStringType) {
    std::vector<std::string> held;
    for (int64_t i = 0; i < weight.count(); ++i) {
      int64_t number = 0;
      std::memcpy(&number, weight.bytes.data() + i * int64_t{sizeof number}, sizeof number);
      WF_CHECK(number >= 0 && static_cast<size_t>(number) < texts.size(), number);
      held.push_back(texts[static_cast<size_t>(number)]);
    }
    return MakeTexts(std::move(held), weight.dim);
  }
  auto tensor = MakeTensor(weight.dtype, weight.dim);
  if (!tensor.ok()) return tensor;
  std::copy(weight.bytes.begin(), weight.bytes.end(), tensor->elements.get());
  MakeBools(*tensor);
  return tensor;
}

Tensor InHolder(const Tensor& tensor) { return {onnx::ElementType(tensor.dtype), tensor.dim, tensor.elements}; }

void MakeBools(Tensor& tensor) {
  if (tensor.dtype != WF_BOOL) return;
  std::transform(tensor.elements.get(), tensor.elements.get() + tensor.count(), tensor.elements.get(),
                 [](uint8_t byte) { return byte != 0 ? uint8_t{1} : uint8_t{0}; });
}

std::string IndexText(const std::vector<int64_t>& dim, int64_t at) {
  std::vector<int64_t> index(dim.size());
  for (size_t axis = dim.size(); axis-- > 0;) {
    index[axis] = at % dim[axis];
    at /= dim[axis];
  }
  return dim.empty() ? "" : fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace wf::workbench
