#include <cmath>
#include <type_traits>

#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// Runs with strides known to the compiler, so that the common cases become vector code.
template <typename T, typename B, typename F>
void Each(const T* a, int64_t a_stride, const B* b, int64_t b_stride, T* out, int64_t n, F f) {
  if (a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  } else if (a_stride == 1) {
    const B right = *b;
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], right);
  } else if (b_stride == 1) {
    const T left = *a;
    for (int64_t i = 0; i < n; ++i) out[i] = f(left, b[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = f(*a, *b);
  }
}

template <typename T>
struct Divide {
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return 0;
      if (std::is_signed_v<T> && b == static_cast<T>(-1))
        return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(a));
      return static_cast<T>(a / b);
    }
  }
};

// Wraps for integers: computed unsigned, 64 bits wide so that small types do not pass through int.
template <typename T, typename F>
auto Wrapping(F f) {
  return [f](T a, T b) -> T {
    if constexpr (std::is_floating_point_v<T>) {
      return f(a, b);
    } else {
      return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    }
  };
}

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

template <typename T, typename B, typename F>
std::unique_ptr<Kernel> Make(const Operation& operation, F f) {
  const bool whole = operation.in[0].dim == operation.out[0].dim;  // then the result may overwrite a
  return MakeFunction(
      2,
      [shape = Broadcast<2>(operation.out[0].dim, {operation.in[0].dim, operation.in[1].dim}), f](const Buffers& buffers) -> const char* {
        const T* a = static_cast<const T*>(buffers.in[0]);
        const B* b = static_cast<const B*>(buffers.in[1]);
        T* out = static_cast<T*>(buffers.out[0]);
        shape.ForEach([&](int64_t at, const auto& offset, const auto& stride, int64_t n) {
          Each(a + offset[0], stride[0], b + offset[1], stride[1], out + at, n, f);
        });
        return nullptr;
      },
      whole);
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeBinary(const Operation& operation) {
  const BinaryOp op = std::get<Binary>(operation.params).op;
  if (op == BinaryOp::kPow) {
    return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename T>() {
      return ForType<float, double, int32_t, int64_t>(operation.in[1].dtype,
                                                      [&]<typename B>() { return Make<T, B>(operation, Power<T, B>); });
    });
  }
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        switch (op) {
          case BinaryOp::kAdd:
            return Make<T, T>(operation, Wrapping<T>([](auto a, auto b) { return a + b; }));
          case BinaryOp::kSub:
            return Make<T, T>(operation, Wrapping<T>([](auto a, auto b) { return a - b; }));
          case BinaryOp::kMul:
            return Make<T, T>(operation, Wrapping<T>([](auto a, auto b) { return a * b; }));
          case BinaryOp::kDiv:
            return Make<T, T>(operation, Divide<T>());
          case BinaryOp::kPow:
            break;
        }
        return std::unique_ptr<Kernel>();
      });
}

}  // namespace wf::kernels::ref
