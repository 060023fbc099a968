#include "runtime/model/samples.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "runtime/base/dtype.h"

namespace wf::model {
namespace {

// Elements have the three in turn.
constexpr size_t kTurns = 3;
struct Sample {
  float floats[kTurns];
  uint8_t integers[kTurns];
  uint8_t bools[kTurns];
};
constexpr Sample kRows[kSamples] = {
    {{0.5F, 0.5F, 0.5F}, {0, 0, 0}, {1, 1, 1}}, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{2, 2, 2}, {2, 2, 2}, {1, 1, 1}},
    {{0.5F, 1, 2}, {0, 1, 2}, {1, 0, 1}},       {{0, 0, 0}, {1, 1, 1}, {0, 0, 0}},
};

uint16_t BrainBits(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

// Of 0 and the small powers of 2 above.
uint16_t HalfBits(float value) {
  constexpr uint32_t kBiases = 127 - 15;
  return value == 0 ? 0 : static_cast<uint16_t>(((std::bit_cast<uint32_t>(value) >> 23) - kBiases) << 10);
}

int64_t CountOf(const wf_tensor& tensor) {
  int64_t count = 1;
  for (size_t i = 0; i < tensor.rank; ++i) count *= tensor.dim[i];
  return count;
}

template <typename T, typename Make>
void Fill(const wf_tensor& tensor, Make make) {
  const T turns[kTurns] = {make(0), make(1), make(2)};
  T* const out = static_cast<T*>(tensor.data);
  const int64_t count = CountOf(tensor);
  for (int64_t i = 0; i < count; ++i) out[i] = turns[static_cast<size_t>(i) % kTurns];
}

template <typename T, typename Test>
bool All(const wf_tensor& tensor, Test test) {
  const T* const elements = static_cast<const T*>(tensor.data);
  const int64_t count = CountOf(tensor);
  for (int64_t i = 0; i < count; ++i) {
    if (!test(elements[i])) return false;
  }
  return true;
}

}  // namespace

void FillWithSample(size_t sample, const wf_tensor& tensor) {
  const Sample& row = kRows[sample];
  const auto integer = [&row](size_t turn) { return row.integers[turn]; };
  if (tensor.dtype == WF_F32) return Fill<float>(tensor, [&row](size_t turn) { return row.floats[turn]; });
  if (tensor.dtype == WF_F64) return Fill<double>(tensor, [&row](size_t turn) { return row.floats[turn]; });
  if (tensor.dtype == WF_F16) return Fill<uint16_t>(tensor, [&row](size_t turn) { return HalfBits(row.floats[turn]); });
  if (tensor.dtype == WF_BF16) return Fill<uint16_t>(tensor, [&row](size_t turn) { return BrainBits(row.floats[turn]); });
  if (tensor.dtype == WF_BOOL) return Fill<uint8_t>(tensor, [&row](size_t turn) { return row.bools[turn]; });
  switch (base::DTypeSize(tensor.dtype)) {
    case 1:
      return Fill<uint8_t>(tensor, integer);
    case 2:
      return Fill<uint16_t>(tensor, integer);
    case 4:
      return Fill<uint32_t>(tensor, integer);
    default:
      return Fill<uint64_t>(tensor, integer);
  }
}

bool AllFinite(const wf_tensor& tensor) {
  constexpr uint16_t kHalfExponent = 0x7c00, kBrainExponent = 0x7f80;
  if (tensor.dtype == WF_F32) return All<float>(tensor, [](float value) { return std::isfinite(value); });
  if (tensor.dtype == WF_F64) return All<double>(tensor, [](double value) { return std::isfinite(value); });
  if (tensor.dtype == WF_F16) return All<uint16_t>(tensor, [](uint16_t bits) { return (bits & kHalfExponent) != kHalfExponent; });
  if (tensor.dtype == WF_BF16) return All<uint16_t>(tensor, [](uint16_t bits) { return (bits & kBrainExponent) != kBrainExponent; });
  return true;
}

}  // namespace wf::model
