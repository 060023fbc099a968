#include "runtime/model/samples.h"

#include <fmt/format.h>

#include <bit>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "runtime/kernels/memory.h"
#include "runtime/model/numbers.h"

namespace wf::model {
namespace {

enum class Bools : uint8_t { kFalse, kTrue, kMixed };
struct Sample {
  float low, high;       // equal: all of them are
  uint32_t first, last;  // integers
  Bools bools;
};
constexpr Sample kRows[kSamples + kLargeSamples] = {
    {0.25F, 1, 0, 0, Bools::kTrue},     {1, 1, 1, 1, Bools::kTrue},    {-1, 1, 0, 2, Bools::kMixed},
    {1, 8, 2, 2, Bools::kTrue},         {8, 100, 2, 9, Bools::kMixed}, {100, 10'000, 10, 99, Bools::kTrue},
    {-100, -1, 100, 127, Bools::kTrue}, {0, 0, 1, 1, Bools::kFalse},   {-1e7, 1e7, 1'000, 100'000, Bools::kMixed},
    {-1e7, 1e7, 0, 0, Bools::kMixed},
};

// Splitmix64's mixer: 24 bits that tell nothing of those of other elements.
uint32_t BitsOf(size_t input, int64_t element) {
  uint64_t bits = (static_cast<uint64_t>(element) + (static_cast<uint64_t>(input) << 48) + 1) * 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>((bits ^ (bits >> 31)) >> 40);
}

float FloatOf(const Sample& row, uint32_t bits) {
  return row.low + (row.high - row.low) * ((static_cast<float>(bits) + 0.5F) / 16'777'216.0F);
}

uint16_t BrainBits(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

// Cut to 11 bits; what is below the least normal number is 0, what is above the largest is that.
uint16_t HalfBits(float value) {
  constexpr uint32_t kBiases = 127 - 15, kSign = 0x8000, kLargest = 0x7bff;
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & kSign, exponent = bits >> 23 & 0xff;
  if (exponent <= kBiases) return static_cast<uint16_t>(sign);
  if (exponent > kBiases + 30) return static_cast<uint16_t>(sign | kLargest);
  return static_cast<uint16_t>(sign | (((bits & 0x7fff'ffff) - (kBiases << 23)) >> 13));
}

template <typename T, typename Make>
void Fill(const wf_tensor& tensor, size_t input, Make make) {
  T* const out = static_cast<T*>(tensor.data);
  const int64_t count = CountOf(tensor);
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(make(BitsOf(input, i)));
}

// Those of a sample whose integers are all the same are the same, column by column.
void FillWithTexts(const SamplePlace& place, const SampleTexts& texts, size_t input, const wf_tensor& tensor) {
  const Sample& row = kRows[place.sample];
  auto* const out = static_cast<wf_bytes*>(tensor.data);
  const int64_t columns = tensor.rank == 0 ? 1 : tensor.dim[tensor.rank - 1];
  for (int64_t i = 0, count = CountOf(tensor); i < count; ++i)
    out[i] = abi::BytesOf(texts.At(place.input, i, columns, row.first == row.last ? row.first : BitsOf(input, i) + row.first));
}

}  // namespace

void FillWithSample(const SamplePlace& place, const SampleTexts& texts, const wf_tensor& tensor) {
  const size_t input = place.input + place.shift;
  const Sample& row = kRows[place.sample];
  if (tensor.dtype == WF_TEXTS) return FillWithTexts(place, texts, input, tensor);
  const auto number = [&row](uint32_t bits) { return FloatOf(row, bits); };
  const auto integer = [&row](uint32_t bits) { return row.first + bits % (row.last - row.first + 1U); };
  const auto flag = [&row](uint32_t bits) { return row.bools == Bools::kMixed ? bits & 1 : row.bools == Bools::kTrue; };
  if (tensor.dtype == WF_F32) return Fill<float>(tensor, input, number);
  if (tensor.dtype == WF_F64) return Fill<double>(tensor, input, number);
  if (tensor.dtype == WF_F16) return Fill<uint16_t>(tensor, input, [&](uint32_t bits) { return HalfBits(number(bits)); });
  if (tensor.dtype == WF_BF16) return Fill<uint16_t>(tensor, input, [&](uint32_t bits) { return BrainBits(number(bits)); });
  if (tensor.dtype == WF_BOOL) return Fill<uint8_t>(tensor, input, flag);
  switch (base::DTypeSize(tensor.dtype)) {
    case 1:
      return Fill<uint8_t>(tensor, input, integer);
    case 2:
      return Fill<uint16_t>(tensor, input, integer);
    case 4:
      return Fill<uint32_t>(tensor, input, integer);
    default:
      return Fill<uint64_t>(tensor, input, integer);
  }
}

base::Status MakeInputs(std::span<const onnx::Port> shapes, std::span<const int8_t> axis, int64_t rows, SampleInputs& made) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    wf_tensor tensor{};
    tensor.dtype = shapes[i].dtype;
    tensor.rank = static_cast<uint8_t>(shapes[i].dim.size());
    int64_t stride = 1;
    for (int at = tensor.rank - 1; at >= 0; --at) {
      tensor.dim[at] = at == axis[i] ? rows : *shapes[i].dim[static_cast<size_t>(at)].constant();
      tensor.stride[at] = stride;
      stride *= tensor.dim[at];
    }
    const uint64_t bytes = abi::DenseBytes(tensor.dtype, tensor.rank, tensor.dim);
    made.memory.push_back(bytes < INT64_MAX ? kernels::Allocate(static_cast<int64_t>(bytes)) : nullptr);
    if (made.memory.back() == nullptr) return base::Status(base::kResourceExhausted, fmt::format("no memory for {} rows", rows));
    tensor.data = made.memory.back().get();
    made.tensors.push_back(tensor);
  }
  return base::Status::Ok();
}

}  // namespace wf::model
