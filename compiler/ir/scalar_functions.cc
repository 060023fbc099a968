// A function for each scalar operation on each wide type: what runs often looks up neither.

#include <cmath>
#include <limits>
#include <type_traits>

#include "compiler/ir/scalar.h"
#include "runtime/base/check.h"

namespace wf::ir {
namespace {

template <typename T>
[[gnu::always_inline]] inline T Of(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return F32Of(bits);
  } else if constexpr (std::is_same_v<T, double>) {
    return F64Of(bits);
  } else {
    return static_cast<T>(bits);
  }
}
template <typename T>
[[gnu::always_inline]] inline uint64_t Bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return F32Bits(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return F64Bits(value);
  } else {
    return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
  }
}

template <typename T>
[[gnu::always_inline]] inline T MinOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}
template <typename T>
[[gnu::always_inline]] inline T MaxOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

template <typename T>
[[gnu::always_inline]] inline T FloatOperation(OpKind kind, T a, T b, T c) {
  switch (kind) {
    case OpKind::kAdd:
      return a + b;
    case OpKind::kSub:
      return a - b;
    case OpKind::kMul:
      return a * b;
    case OpKind::kDiv:
      return a / b;
    case OpKind::kRem:
      return std::fmod(a, b);
    case OpKind::kNeg:
      return -a;
    case OpKind::kAbs:
      return std::fabs(a);
    case OpKind::kFloor:
      return std::floor(a);
    case OpKind::kCeil:
      return std::ceil(a);
    case OpKind::kRint:
      return std::nearbyint(a);
    case OpKind::kTrunc:
      return std::trunc(a);
    case OpKind::kSqrt:
      return std::sqrt(a);
    case OpKind::kFma:
      return std::fma(a, b, c);
    default:
      WF_CHECK(false, InfoOf(kind).name);
      return a;
  }
}

template <typename T>
[[gnu::always_inline]] inline T IntegerOperation(OpKind kind, T a, T b) {
  using U = std::make_unsigned_t<T>;
  const U x = static_cast<U>(a), y = static_cast<U>(b);
  constexpr unsigned kWidth = sizeof(T) * 8;
  constexpr bool kIsSigned = std::is_signed_v<T>;
  switch (kind) {
    case OpKind::kAdd:
      return static_cast<T>(x + y);
    case OpKind::kSub:
      return static_cast<T>(x - y);
    case OpKind::kMul:
      return static_cast<T>(x * y);
    case OpKind::kDiv:
      if (b == 0) return a;
      return kIsSigned && b == static_cast<T>(-1) ? static_cast<T>(U{0} - x) : static_cast<T>(a / b);
    case OpKind::kRem:
      if (b == 0 || (kIsSigned && b == static_cast<T>(-1))) return 0;
      return static_cast<T>(a % b);
    case OpKind::kNeg:
      return static_cast<T>(U{0} - x);
    case OpKind::kAbs:
      return kIsSigned && (x >> (kWidth - 1)) ? static_cast<T>(U{0} - x) : a;
    case OpKind::kFloor:
    case OpKind::kCeil:
    case OpKind::kRint:
    case OpKind::kTrunc:
      return a;
    case OpKind::kShl:
      return static_cast<T>(x << (y % kWidth));
    case OpKind::kShr:
      return static_cast<T>(a >> (y % kWidth));
    case OpKind::kBitAnd:
      return static_cast<T>(x & y);
    case OpKind::kBitOr:
      return static_cast<T>(x | y);
    case OpKind::kIndexOrZero:
      return x < y ? a : 0;
    default:
      WF_CHECK(false, InfoOf(kind).name);
      return a;
  }
}

template <typename T>
[[gnu::always_inline]] inline uint64_t Operation(OpKind kind, uint64_t a_bits, uint64_t b_bits, uint64_t c_bits) {
  const T a = Of<T>(a_bits), b = Of<T>(b_bits);
  switch (kind) {
    case OpKind::kEq:
      return a == b;
    case OpKind::kNe:
      return a != b;
    case OpKind::kLt:
      return a < b;
    case OpKind::kLe:
      return a <= b;
    case OpKind::kMin:
      return Bits<T>(MinOf(a, b));
    case OpKind::kMax:
      return Bits<T>(MaxOf(a, b));
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    return Bits<T>(FloatOperation<T>(kind, a, b, Of<T>(c_bits)));
  } else {
    return Bits<T>(IntegerOperation<T>(kind, a, b));
  }
}

template <OpKind kKind, typename T>
uint64_t Apply([[maybe_unused]] uint64_t a, [[maybe_unused]] uint64_t b, [[maybe_unused]] uint64_t c) {
  if constexpr (kKind == OpKind::kBitcast) {
    return a;
  } else if constexpr (kKind == OpKind::kSelect) {
    return a ? b : c;
  } else if constexpr (kKind == OpKind::kNot) {
    return !a;
  } else if constexpr (kKind == OpKind::kAnd) {
    return a & b;
  } else if constexpr (kKind == OpKind::kOr) {
    return a | b;
  } else {
    return Operation<T>(kKind, a, b, c);
  }
}

template <OpKind kKind, typename T>
constexpr bool HasOperation() {
  constexpr bool kOfIntegers = kKind == OpKind::kShl || kKind == OpKind::kShr || kKind == OpKind::kBitAnd || kKind == OpKind::kBitOr ||
                               kKind == OpKind::kIndexOrZero;
  constexpr bool kOfFloats = kKind == OpKind::kSqrt || kKind == OpKind::kFma;
  if (kKind == OpKind::kConvert) return false;  // of two types
  return std::is_floating_point_v<T> ? !kOfIntegers : !kOfFloats;
}

template <OpKind kKind, typename T>
ScalarFunction Function() {
  if constexpr (HasOperation<kKind, T>()) {
    return Apply<kKind, T>;
  } else {
    return nullptr;
  }
}

// What is the same for bits of every type.
constexpr bool IsOfBits(OpKind kind) {
  return kind == OpKind::kBitcast || kind == OpKind::kSelect || kind == OpKind::kNot || kind == OpKind::kAnd || kind == OpKind::kOr;
}

template <typename T>
ScalarFunction FunctionFor(OpKind kind) {
  switch (kind) {
#define OP(enumerator, name, arguments, blocks) \
  case OpKind::enumerator:                      \
    break;
#define SCALAR_OP(enumerator, name, arguments, blocks) \
  case OpKind::enumerator:                             \
    return Function<OpKind::enumerator, T>();
#include "compiler/ir/ops.def"
#undef OP
  }
  return nullptr;
}

}  // namespace

ScalarFunction ScalarFunctionOf(OpKind kind, DType dtype) {
  if (IsOfBits(kind)) return FunctionFor<uint64_t>(kind);
  switch (dtype) {
    case DType::kI32:
      return FunctionFor<int32_t>(kind);
    case DType::kI64:
      return FunctionFor<int64_t>(kind);
    case DType::kU32:
      return FunctionFor<uint32_t>(kind);
    case DType::kU64:
      return FunctionFor<uint64_t>(kind);
    case DType::kF32:
      return FunctionFor<float>(kind);
    case DType::kF64:
      return FunctionFor<double>(kind);
    case DType::kBool:
      return kind == OpKind::kEq || kind == OpKind::kNe ? FunctionFor<uint32_t>(kind) : nullptr;
    case DType::kNone:
    case DType::kI8:
    case DType::kI16:
    case DType::kU8:
    case DType::kU16:
    case DType::kF16:
    case DType::kBf16:
      break;
  }
  return nullptr;
}

}  // namespace wf::ir
