#include <cmath>
#include <cstddef>
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

// A run of elements; strides are 1 or 0. What walks the shape is compiled once, not for each function of each type.
using Loop = void (*)(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* out, int64_t n);

// Of a function without captures.
template <typename T, typename B, typename Out, typename F>
Loop LoopOf(F) {
  return [](const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* out, int64_t n) {
    of_two::Each(of_two::Side<T>{static_cast<const T*>(a), a_stride}, of_two::Side<B>{static_cast<const B*>(b), b_stride},
                 static_cast<Out*>(out), n, F());
  };
}

std::unique_ptr<Kernel> Make(const Operation& operation, Loop run) {
  if (run == nullptr) return nullptr;
  const TensorInfo &a = operation.in[0], &b = operation.in[1], &out = operation.out[0];
  const int64_t a_size = base::DTypeSize(a.dtype), b_size = base::DTypeSize(b.dtype), out_size = base::DTypeSize(out.dtype);
  const bool whole = a.dim == out.dim && out_size == a_size;  // then the result may overwrite a
  return MakeFunction(
      2,
      [=, shape = Broadcast<2>(out.dim, {a.dim, b.dim})](const Buffers& buffers) -> const char* {
        const std::byte *from_a = static_cast<const std::byte*>(buffers.in[0]), *from_b = static_cast<const std::byte*>(buffers.in[1]);
        std::byte* to = static_cast<std::byte*>(buffers.out[0]);
        shape.ForEach([&](int64_t at, const auto& offset, const auto& stride, int64_t n) {
          run(from_a + offset[0] * a_size, stride[0], from_b + offset[1] * b_size, stride[1], to + at * out_size, n);
        });
        return nullptr;
      },
      whole);
}

template <typename T>
Loop Arithmetic(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return LoopOf<T, T, T>(of_two::Sum<T>());
    case BinaryOp::kSub:
      return LoopOf<T, T, T>(of_two::Difference<T>());
    case BinaryOp::kMul:
      return LoopOf<T, T, T>(of_two::Times<T>());
    case BinaryOp::kDiv:
      return LoopOf<T, T, T>(of_two::Divide<T>());
    case BinaryOp::kMod:
      return LoopOf<T, T, T>(of_two::Modulo<T>());
    case BinaryOp::kFmod:
      return LoopOf<T, T, T>(of_two::Remainder<T>());
    case BinaryOp::kMax:
      return LoopOf<T, T, T>(of_two::Larger<T>());
    case BinaryOp::kMin:
      return LoopOf<T, T, T>(of_two::Smaller<T>());
    case BinaryOp::kPRelu:
      return LoopOf<T, T, T>(of_two::Slope<T>());
    default:
      return nullptr;
  }
}

// Of unsigned T: bits have no sign.
template <typename T>
Loop Bits(BinaryOp op) {
  constexpr T kBits = 8 * sizeof(T);
  switch (op) {
    case BinaryOp::kBitAnd:
      return LoopOf<T, T, T>([](T a, T b) { return static_cast<T>(a & b); });
    case BinaryOp::kBitOr:
      return LoopOf<T, T, T>([](T a, T b) { return static_cast<T>(a | b); });
    case BinaryOp::kBitXor:
      return LoopOf<T, T, T>([](T a, T b) { return static_cast<T>(a ^ b); });
    case BinaryOp::kShiftLeft:
      return LoopOf<T, T, T>([](T a, T b) { return b < kBits ? static_cast<T>(a << b) : T(0); });
    case BinaryOp::kShiftRight:
      return LoopOf<T, T, T>([](T a, T b) { return b < kBits ? static_cast<T>(a >> b) : T(0); });
    default:
      return nullptr;
  }
}

template <typename T>
Loop Comparison(BinaryOp op) {
  switch (op) {
    case BinaryOp::kEqual:
      return LoopOf<T, T, uint8_t>([](T a, T b) -> uint8_t { return a == b; });
    case BinaryOp::kGreater:
      return LoopOf<T, T, uint8_t>([](T a, T b) -> uint8_t { return a > b; });
    case BinaryOp::kGreaterEqual:
      return LoopOf<T, T, uint8_t>([](T a, T b) -> uint8_t { return a >= b; });
    case BinaryOp::kLess:
      return LoopOf<T, T, uint8_t>([](T a, T b) -> uint8_t { return a < b; });
    case BinaryOp::kLessEqual:
      return LoopOf<T, T, uint8_t>([](T a, T b) -> uint8_t { return a <= b; });
    default:
      return nullptr;
  }
}

std::unique_ptr<Kernel> MakePow(const Operation& operation) {
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename T>() {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
        operation.in[1].dtype,
        [&]<typename B>() { return Make(operation, LoopOf<T, B, T>([](T base, B exponent) { return Power(base, exponent); })); });
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
    return ForType<uint8_t, uint16_t, uint32_t, uint64_t>(bits, [&]<typename T>() { return Make(operation, Bits<T>(op)); });
  }
  if (GivesBool(op)) {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
        dtype == WF_BOOL ? uint8_t{WF_U8} : dtype, [&]<typename T>() { return Make(operation, Comparison<T>(op)); });
  }
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      dtype, [&]<typename T>() { return Make(operation, Arithmetic<T>(op)); });
}

}  // namespace wf::kernels::ref
