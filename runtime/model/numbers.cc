#include "runtime/model/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

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

template <typename T>
T Load(const void* elements, int64_t at) {
  T value;
  std::memcpy(&value, static_cast<const uint8_t*>(elements) + at * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename Bits>
int LeastExponentOf(const void* elements, int64_t count, int mantissa_bits, int bias) {
  Bits least = static_cast<Bits>(bias) << mantissa_bits;
  for (const Bits bits : std::span(static_cast<const Bits*>(elements), static_cast<size_t>(count))) {
    const Bits magnitude = bits & (static_cast<Bits>(-1) >> 1);
    least = std::min(least, magnitude == 0 ? least : magnitude);
  }
  return static_cast<int>(least >> mantissa_bits) - bias;
}

double HalfNumber(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f) return mantissa != 0 ? NAN : sign * INFINITY;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 0x400, exponent - 25));
}

}  // namespace

int64_t CountOf(const wf_tensor& tensor) {
  int64_t count = 1;
  for (size_t axis = 0; axis < tensor.rank; ++axis) count *= tensor.dim[axis];
  return count;
}

Kinds KindsOf(uint8_t dtype, const void* elements, int64_t count) {
  constexpr uint16_t kHalfExponent = 0x7c00, kBrainExponent = 0x7f80;
  if (count == 0) return {};
  if (dtype == WF_F32) return KindsOfFloats<float>(elements, count);
  if (dtype == WF_F64) return KindsOfFloats<double>(elements, count);
  if (dtype == WF_F16) return KindsOfHalves(elements, count, kHalfExponent);
  if (dtype == WF_BF16) return KindsOfHalves(elements, count, kBrainExponent);
  return {.finite = true};
}

int LeastExponent(uint8_t dtype, const void* elements, int64_t count) {
  if (dtype == WF_F32) return LeastExponentOf<uint32_t>(elements, count, 23, 127);
  if (dtype == WF_F64) return LeastExponentOf<uint64_t>(elements, count, 52, 1023);
  return dtype == WF_BF16 ? LeastExponentOf<uint16_t>(elements, count, 7, 127) : 0;
}

// A product of two mantissas has twice their digits, and no sum of such has a digit below the last of these.
bool MayUnderflow(uint8_t dtype, int exponent) {
  if (dtype == WF_F64) return exponent - 2 * 52 < -1022;
  return (dtype == WF_F32 || dtype == WF_BF16) && exponent - 2 * 23 < -126;
}

double NumberAt(uint8_t dtype, const void* elements, int64_t at) {
  switch (dtype) {
    case WF_F32:
      return Load<float>(elements, at);
    case WF_F64:
      return Load<double>(elements, at);
    case WF_F16:
      return HalfNumber(Load<uint16_t>(elements, at));
    case WF_BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(Load<uint16_t>(elements, at)) << 16);
    case WF_I8:
      return Load<int8_t>(elements, at);
    case WF_I16:
      return Load<int16_t>(elements, at);
    case WF_U16:
      return Load<uint16_t>(elements, at);
    case WF_I32:
      return Load<int32_t>(elements, at);
    case WF_U32:
      return Load<uint32_t>(elements, at);
    case WF_I64:
      return static_cast<double>(Load<int64_t>(elements, at));
    case WF_U64:
      return static_cast<double>(Load<uint64_t>(elements, at));
    default:  // u8, bool
      return Load<uint8_t>(elements, at);
  }
}

}  // namespace wf::model
