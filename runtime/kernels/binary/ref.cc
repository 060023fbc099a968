#include <cmath>
#include <type_traits>

#include "runtime/kernels/binary/functions.h"
#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// Squares and multiplies. Of a negative exponent, for which ONNX's reference has no result, what is left when the fraction is cut: nothing
// but of 1 and -1; and 0 has none, as in a division by it.
template <typename T, typename B>
T WholePower(T base, B exponent) {
  if (exponent < 0) return base == 1 || (base == -1 && exponent % 2 == 0) ? 1 : base == -1 ? -1 : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <typename T, typename B>
T Power(T base, B exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    if (exponent == static_cast<B>(2)) return base * base;
    return static_cast<T>(std::pow(base, static_cast<T>(exponent)));
  } else if constexpr (std::is_floating_point_v<B>) {
    return Saturated<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  } else {
    return WholePower(base, exponent);
  }
}

template <typename T, typename B, typename Out, typename F>
std::unique_ptr<Kernel> Make(const Operation& operation, F f) {
  const bool whole = operation.in[0].dim == operation.out[0].dim && sizeof(Out) == sizeof(T);  // then the result may overwrite a
  return MakeFunction(
      2,
      [shape = Broadcast<2>(operation.out[0].dim, {operation.in[0].dim, operation.in[1].dim}), f](const Buffers& buffers) -> const char* {
        const T* a = static_cast<const T*>(buffers.in[0]);
        const B* b = static_cast<const B*>(buffers.in[1]);
        Out* out = static_cast<Out*>(buffers.out[0]);
        shape.ForEach([&](int64_t at, const auto& offset, const auto& stride, int64_t n) {
          of_two::Each(of_two::Side<T>{a + offset[0], stride[0]}, of_two::Side<B>{b + offset[1], stride[1]}, out + at, n, f);
        });
        return nullptr;
      },
      whole);
}

template <typename T>
std::unique_ptr<Kernel> MakeArithmetic(const Operation& operation, BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return Make<T, T, T>(operation, of_two::Sum<T>());
    case BinaryOp::kSub:
      return Make<T, T, T>(operation, of_two::Difference<T>());
    case BinaryOp::kMul:
      return Make<T, T, T>(operation, of_two::Times<T>());
    case BinaryOp::kDiv:
      return Make<T, T, T>(operation, of_two::Divide<T>());
    case BinaryOp::kMod:
      return Make<T, T, T>(operation, of_two::Modulo<T>());
    case BinaryOp::kFmod:
      return Make<T, T, T>(operation, of_two::Remainder<T>());
    case BinaryOp::kMax:
      return Make<T, T, T>(operation, of_two::Larger<T>());
    case BinaryOp::kMin:
      return Make<T, T, T>(operation, of_two::Smaller<T>());
    case BinaryOp::kPRelu:
      return Make<T, T, T>(operation, of_two::Slope<T>());
    default:
      return nullptr;
  }
}

// Of unsigned T: bits have no sign.
template <typename T>
std::unique_ptr<Kernel> MakeBits(const Operation& operation, BinaryOp op) {
  constexpr T kBits = 8 * sizeof(T);
  switch (op) {
    case BinaryOp::kBitAnd:
      return Make<T, T, T>(operation, [](T a, T b) { return static_cast<T>(a & b); });
    case BinaryOp::kBitOr:
      return Make<T, T, T>(operation, [](T a, T b) { return static_cast<T>(a | b); });
    case BinaryOp::kBitXor:
      return Make<T, T, T>(operation, [](T a, T b) { return static_cast<T>(a ^ b); });
    case BinaryOp::kShiftLeft:
      return Make<T, T, T>(operation, [](T a, T b) { return b < kBits ? static_cast<T>(a << b) : T(0); });
    case BinaryOp::kShiftRight:
      return Make<T, T, T>(operation, [](T a, T b) { return b < kBits ? static_cast<T>(a >> b) : T(0); });
    default:
      return nullptr;
  }
}

template <typename T>
std::unique_ptr<Kernel> MakeComparison(const Operation& operation, BinaryOp op) {
  switch (op) {
    case BinaryOp::kEqual:
      return Make<T, T, uint8_t>(operation, [](T a, T b) -> uint8_t { return a == b; });
    case BinaryOp::kGreater:
      return Make<T, T, uint8_t>(operation, [](T a, T b) -> uint8_t { return a > b; });
    case BinaryOp::kGreaterEqual:
      return Make<T, T, uint8_t>(operation, [](T a, T b) -> uint8_t { return a >= b; });
    case BinaryOp::kLess:
      return Make<T, T, uint8_t>(operation, [](T a, T b) -> uint8_t { return a < b; });
    case BinaryOp::kLessEqual:
      return Make<T, T, uint8_t>(operation, [](T a, T b) -> uint8_t { return a <= b; });
    default:
      return nullptr;
  }
}

std::unique_ptr<Kernel> MakePow(const Operation& operation) {
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename T>() {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
        operation.in[1].dtype, [&]<typename B>() { return Make<T, B, T>(operation, Power<T, B>); });
  });
}

bool OfBits(BinaryOp op) { return op >= BinaryOp::kBitAnd && op <= BinaryOp::kShiftRight; }

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeBinary(const Operation& operation) {
  const BinaryOp op = std::get<Binary>(operation.params).op;
  const uint8_t dtype = operation.in[0].dtype;
  if (op == BinaryOp::kPow) return MakePow(operation);
  if (OfBits(op) && dtype != WF_F32 && dtype != WF_F64) {
    const int64_t size = base::DTypeSize(dtype);
    const uint8_t bits = size == 1 ? WF_U8 : size == 2 ? WF_U16 : size == 4 ? WF_U32 : WF_U64;
    return ForType<uint8_t, uint16_t, uint32_t, uint64_t>(bits, [&]<typename T>() { return MakeBits<T>(operation, op); });
  }
  if (GivesBool(op)) {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
        dtype == WF_BOOL ? uint8_t{WF_U8} : dtype, [&]<typename T>() { return MakeComparison<T>(operation, op); });
  }
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      dtype, [&]<typename T>() { return MakeArithmetic<T>(operation, op); });
}

}  // namespace wf::kernels::ref
