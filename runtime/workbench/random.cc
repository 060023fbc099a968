#include "runtime/workbench/random.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/workbench/convert.h"

namespace wf::workbench {
namespace {

using base::Result;

// SplitMix64: every seed gives another sequence, and each number of it is a mix of the seed and the place.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

 private:
  uint64_t state_;
};

void FillIntegers(Numbers& numbers, int64_t most, Tensor& tensor) {
  const int64_t size = base::DTypeSize(tensor.dtype);
  const uint64_t range = tensor.dtype == WF_BOOL ? 2 : static_cast<uint64_t>(most) + 1;
  for (int64_t at = 0, count = tensor.count(); at < count; ++at) {
    const uint64_t number = numbers.Next() % range;  // little-endian: its low bytes are the narrow number
    std::memcpy(tensor.elements.get() + at * size, &number, static_cast<size_t>(size));
  }
}

template <typename T>
void FillFloats(Numbers& numbers, Tensor& tensor) {
  auto* const out = reinterpret_cast<T*>(tensor.elements.get());
  for (int64_t at = 0, count = tensor.count(); at < count; ++at)
    out[at] = static_cast<T>(static_cast<double>(static_cast<int64_t>(numbers.Next()) >> 40) / (1 << 23));
}

// Numbers as texts.
Result<Tensor> RandomTexts(std::vector<int64_t> dim, Numbers& numbers, int64_t most) {
  const Tensor shape{onnx::kStringType, std::move(dim), nullptr};
  WF_RETURN_IF_ERROR(CheckShape(shape.dtype, shape.dim));
  std::vector<std::string> texts;
  for (int64_t at = 0, count = shape.count(); at < count; ++at)
    texts.push_back(std::to_string(numbers.Next() % (static_cast<uint64_t>(most) + 1)));
  return MakeTexts(std::move(texts), shape.dim);
}

Result<Tensor> RandomTensor(const onnx::Port& port, Numbers& numbers, int64_t most) {
  std::vector<int64_t> dim;
  for (const onnx::Dim& each : port.dim) dim.push_back(*each.constant());
  if (port.dtype == onnx::kStringType) return RandomTexts(std::move(dim), numbers, most);
  if (onnx::IsNarrow(port.dtype))
    return base::Status(base::kUnimplemented, fmt::format("no numbers of type {} are made up", onnx::TypeName(port.dtype)));
  const bool is_narrow = port.dtype == WF_F16 || port.dtype == WF_BF16;
  auto tensor = MakeTensor(is_narrow ? uint8_t{WF_F32} : port.dtype, std::move(dim));
  if (!tensor.ok()) return tensor;
  if (tensor->dtype == WF_F32) {
    FillFloats<float>(numbers, *tensor);
  } else if (tensor->dtype == WF_F64) {
    FillFloats<double>(numbers, *tensor);
  } else {
    FillIntegers(numbers, most, *tensor);
  }
  return is_narrow ? Convert(*tensor, port.dtype) : tensor;
}

}  // namespace

Result<std::vector<Tensor>> RandomInputs(std::span<const onnx::Port> ports, uint64_t seed, int64_t most) {
  Numbers seeds(seed);
  std::vector<Tensor> tensors;
  for (const onnx::Port& port : ports) {
    Numbers numbers(seeds.Next());
    auto tensor = RandomTensor(port, numbers, most);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

Result<std::vector<Tensor>> FittingInputs(Session& session, std::span<const onnx::Port> ports, uint64_t seed) {
  base::Status first;
  for (const int64_t most : {100, 9, 1, 0}) {
    auto tensors = RandomInputs(ports, seed, most);
    if (!tensors.ok()) return tensors;
    std::vector<wf_tensor> outputs(session.signature().outputs.size());
    const base::Status ran = session.RunInPlace(0, session.RowsOf(*tensors), ViewsOf(*tensors), outputs);
    if (ran.ok()) return tensors;
    if (first.ok()) first = ran;
  }
  return first;
}

}  // namespace wf::workbench
