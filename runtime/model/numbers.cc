#include "runtime/model/numbers.h"

#include <cmath>
#include <span>

#include "runtime/abi/values.h"

namespace wf::model {
namespace {

template <typename T>
Kinds KindsOfFloats(const void* elements, int64_t count) {
  Kinds kinds;
  for (const T value : std::span(static_cast<const T*>(elements), static_cast<size_t>(count))) {
    const bool nan = std::isnan(value), infinite = std::isinf(value);
    kinds.nan |= nan;
    kinds.infinite |= infinite;
    kinds.finite |= !nan && !infinite;
  }
  return kinds;
}

// exponent: its bits, all set in what is not finite; the bits below are those of the mantissa.
Kinds KindsOfHalves(const void* elements, int64_t count, uint16_t exponent) {
  Kinds kinds;
  const auto mantissa = static_cast<uint16_t>((exponent & -exponent) - 1);
  for (const uint16_t bits : std::span(static_cast<const uint16_t*>(elements), static_cast<size_t>(count))) {
    const bool finite = (bits & exponent) != exponent, nan = !finite && (bits & mantissa) != 0;
    kinds.nan |= nan;
    kinds.infinite |= !finite && !nan;
    kinds.finite |= finite;
  }
  return kinds;
}

}  // namespace

Kinds KindsOf(uint8_t dtype, const void* elements, int64_t count) {
  constexpr uint16_t kHalfExponent = 0x7c00, kBrainExponent = 0x7f80;
  if (count == 0) return {};
  if (dtype == WF_F32) return KindsOfFloats<float>(elements, count);
  if (dtype == WF_F64) return KindsOfFloats<double>(elements, count);
  if (dtype == WF_F16) return KindsOfHalves(elements, count, kHalfExponent);
  if (dtype == WF_BF16) return KindsOfHalves(elements, count, kBrainExponent);
  return {.finite = true};
}

}  // namespace wf::model
