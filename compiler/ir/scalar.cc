#include "compiler/ir/scalar.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/base/check.h"
#include "runtime/base/float_text.h"

namespace wf::ir {
namespace {

float F32OfHalf(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16, exponent = (half >> 10) & 31, mantissa = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // zero and denormals, exact
  return sign ? -magnitude : magnitude;
}

uint16_t HalfOfF32(float value) {  // nearest, ties to even
  const uint32_t bits = std::bit_cast<uint32_t>(value), sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past 65504
  if (magnitude < 0x38800000u) {                                               // denormal: a multiple of 2^-24
    const float scaled = std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f);
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(scaled));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

uint16_t Bf16OfF32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

// The type that a storage type is computed in.
DType WideOf(DType dtype) {
  if (dtype == DType::kF16 || dtype == DType::kBf16) return DType::kF32;
  return dtype == DType::kU8 || dtype == DType::kU16 ? DType::kU32 : DType::kI32;
}

uint64_t StorageOperation(OpKind kind, DType dtype, uint64_t a, uint64_t b) {
  const DType wide = WideOf(dtype);
  const uint64_t result = EvaluateScalar(kind, wide, ConvertScalar(dtype, wide, a), ConvertScalar(dtype, wide, b));
  const bool is_comparison = kind == OpKind::kEq || kind == OpKind::kNe || kind == OpKind::kLt || kind == OpKind::kLe;
  return is_comparison ? result : ConvertScalar(wide, dtype, result);
}

template <typename T>
uint64_t SaturatingBits(DType to, T value) {
  if (std::isnan(value)) return 0;
  value = std::trunc(value);
  const int width = static_cast<int>(SizeOf(to)) * 8;
  if (IsSigned(to)) {
    const T bound = std::ldexp(T{1}, width - 1);
    const int64_t greatest = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
    const int64_t integer = value >= bound ? greatest : value < -bound ? -greatest - 1 : static_cast<int64_t>(value);
    return MaskTo(to, static_cast<uint64_t>(integer));
  }
  if (value <= 0) return 0;
  return value >= std::ldexp(T{1}, width) ? MaskTo(to, ~uint64_t{0}) : static_cast<uint64_t>(value);
}

template <typename T>
T FromInteger(DType from, uint64_t bits) {
  return IsSigned(from) ? static_cast<T>(SignedOf(from, bits)) : static_cast<T>(bits);
}

}  // namespace

uint64_t F32Bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t F64Bits(double value) { return std::bit_cast<uint64_t>(value); }
float F32Of(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double F64Of(uint64_t bits) { return std::bit_cast<double>(bits); }

uint64_t MaskTo(DType dtype, uint64_t bits) {
  const size_t width = SizeOf(dtype) * 8;
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

int64_t SignedOf(DType dtype, uint64_t bits) {
  if (!IsSigned(dtype)) return static_cast<int64_t>(bits);
  const int shift = 64 - static_cast<int>(SizeOf(dtype)) * 8;
  return static_cast<int64_t>(bits << shift) >> shift;
}

bool IsScalarArithmetic(OpKind kind) { return InfoOf(kind).group == OpGroup::kScalar; }

uint64_t EvaluateScalar(OpKind kind, DType dtype, uint64_t a, uint64_t b, uint64_t c) {
  if (const ScalarFunction function = ScalarFunctionOf(kind, dtype); function != nullptr) return function(a, b, c);
  if (dtype == DType::kBool) return EvaluateScalar(kind, DType::kU32, a, b, c) & 1;
  WF_CHECK(IsScalarArithmetic(kind) && kind != OpKind::kConvert && SizeOf(dtype) < sizeof(uint32_t), InfoOf(kind).name);
  return StorageOperation(kind, dtype, a, b);
}

uint64_t ConvertScalar(DType from, DType to, uint64_t bits) {
  if (from == to) return bits;
  if (from == DType::kF16) return ConvertScalar(DType::kF32, to, F32Bits(F32OfHalf(static_cast<uint16_t>(bits))));
  if (from == DType::kBf16) return ConvertScalar(DType::kF32, to, bits << 16);
  if (to == DType::kF16) return HalfOfF32(F32Of(ConvertScalar(from, DType::kF32, bits)));
  if (to == DType::kBf16) return Bf16OfF32(F32Of(ConvertScalar(from, DType::kF32, bits)));
  if (to == DType::kBool) return EvaluateScalar(OpKind::kNe, from, bits, 0);
  if (from == DType::kF32) {
    return to == DType::kF64 ? F64Bits(static_cast<double>(F32Of(bits))) : SaturatingBits<float>(to, F32Of(bits));
  }
  if (from == DType::kF64) {
    return to == DType::kF32 ? F32Bits(static_cast<float>(F64Of(bits))) : SaturatingBits<double>(to, F64Of(bits));
  }
  if (to == DType::kF32) return F32Bits(FromInteger<float>(from, bits));
  if (to == DType::kF64) return F64Bits(FromInteger<double>(from, bits));
  return MaskTo(to, static_cast<uint64_t>(SignedOf(from, bits)));
}

OpKind ReduceOperation(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return OpKind::kAdd;
    case ReduceKind::kProd:
      return OpKind::kMul;
    case ReduceKind::kMin:
      return OpKind::kMin;
    case ReduceKind::kMax:
      return OpKind::kMax;
    case ReduceKind::kAny:
      return OpKind::kOr;
    case ReduceKind::kAll:
      return OpKind::kAnd;
  }
  return OpKind::kAdd;
}

uint64_t ReduceIdentity(ReduceKind kind, DType dtype) {
  const size_t width = SizeOf(dtype) * 8;
  switch (kind) {
    case ReduceKind::kSum:
    case ReduceKind::kAny:
      return 0;
    case ReduceKind::kAll:
      return 1;
    case ReduceKind::kProd:
      return ConvertScalar(DType::kI32, dtype, 1);
    case ReduceKind::kMin:
      if (IsFloat(dtype)) return ConvertScalar(DType::kF32, dtype, F32Bits(std::numeric_limits<float>::infinity()));
      return IsSigned(dtype) ? (uint64_t{1} << (width - 1)) - 1 : MaskTo(dtype, ~uint64_t{0});
    case ReduceKind::kMax:
      if (IsFloat(dtype)) return ConvertScalar(DType::kF32, dtype, F32Bits(-std::numeric_limits<float>::infinity()));
      return IsSigned(dtype) ? uint64_t{1} << (width - 1) : 0;
  }
  return 0;
}

bool SameScalar(DType dtype, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (!IsFloat(dtype)) return false;
  return std::isnan(F64Of(ConvertScalar(dtype, DType::kF64, a))) && std::isnan(F64Of(ConvertScalar(dtype, DType::kF64, b)));
}

std::string ScalarText(DType dtype, uint64_t bits) {
  if (dtype == DType::kBool) return bits ? "true" : "false";
  char buffer[base::kMostFloatText];
  if (IsFloat(dtype) && std::isnan(F64Of(ConvertScalar(dtype, DType::kF64, bits)))) return "nan";
  if (dtype == DType::kF16) return {buffer, base::PutHalf(buffer, static_cast<uint16_t>(bits))};
  if (dtype == DType::kBf16) return {buffer, base::PutBfloat(buffer, static_cast<uint16_t>(bits))};
  if (dtype == DType::kF32) return {buffer, base::PutFloat(buffer, F32Of(bits))};
  if (dtype == DType::kF64) return {buffer, base::PutFloat(buffer, F64Of(bits))};
  return IsSigned(dtype) ? std::to_string(SignedOf(dtype, bits)) : std::to_string(bits);
}

namespace {

template <typename T>
std::optional<T> ParseNumber(const std::string& text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || text.empty()) return {};
  return value;
}

}  // namespace

std::optional<uint64_t> ParseScalar(DType dtype, const std::string& text) {
  if (dtype == DType::kBool) {
    if (text == "true") return 1;
    return text == "false" ? std::optional<uint64_t>(0) : std::nullopt;
  }
  if (dtype == DType::kF64 || IsFloat(dtype)) {
    if (text.empty() || (text[0] != '-' && (text[0] < '0' || text[0] > '9'))) return {};
    const std::optional<double> value = ParseNumber<double>(text);
    if (!value || !std::isfinite(*value)) return {};
    if (dtype == DType::kF64) return F64Bits(*value);
    const std::optional<float> narrow = ParseNumber<float>(text);
    return narrow ? std::optional<uint64_t>(ConvertScalar(DType::kF32, dtype, F32Bits(*narrow))) : std::nullopt;
  }
  const std::optional<int64_t> value = ParseNumber<int64_t>(text);
  if (!value && dtype == DType::kU64) return ParseNumber<uint64_t>(text);
  if (!value) return {};
  const uint64_t bits = MaskTo(dtype, static_cast<uint64_t>(*value));
  const bool is_same = IsSigned(dtype) ? SignedOf(dtype, bits) == *value : *value >= 0 && bits == static_cast<uint64_t>(*value);
  return is_same ? std::optional<uint64_t>(bits) : std::nullopt;
}

}  // namespace wf::ir
