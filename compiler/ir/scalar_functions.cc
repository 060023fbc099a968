// A function for each scalar operation on each wide type: what runs often looks up neither.

#include "compiler/ir/scalar.h"
#include "compiler/ir/scalar_operation.h"

namespace wf::ir {
namespace {

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
  constexpr bool kOfIntegers = kKind == OpKind::kShl || kKind == OpKind::kShr || kKind == OpKind::kBitAnd || kKind == OpKind::kBitOr;
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

constexpr bool IsOfBools(OpKind kind) {
  return kind == OpKind::kNot || kind == OpKind::kAnd || kind == OpKind::kOr || kind == OpKind::kSelect || kind == OpKind::kEq ||
         kind == OpKind::kNe;
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
      return IsOfBools(kind) ? FunctionFor<uint32_t>(kind) : nullptr;
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
