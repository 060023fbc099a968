#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename T>
T Clipped(T x, T low, T high) {  // NaN stays; bounds that cross give the upper one, as in ONNX
  x = x < low ? low : x;
  return x > high ? high : x;
}

template <typename T, typename F>
void Each(const T* in, T* out, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) out[i] = f(in[i]);
}

template <typename T>
void RunFloat(const Unary& u, const T* in, T* out, int64_t n) {
  const T alpha = static_cast<T>(u.alpha), beta = static_cast<T>(u.beta);
  switch (u.op) {
    case UnaryOp::kIdentity:
      if (in != out) std::copy(in, in + n, out);
      return;
    case UnaryOp::kAbs:
      return Each(in, out, n, [](T x) { return std::abs(x); });
    case UnaryOp::kClip:
      return Each(in, out, n, [=](T x) { return Clipped(x, alpha, beta); });
    case UnaryOp::kErf:
      return Each(in, out, n, [](T x) { return std::erf(x); });
    case UnaryOp::kExp:
      return Each(in, out, n, [](T x) { return std::exp(x); });
    case UnaryOp::kLeakyRelu:
      return Each(in, out, n, [=](T x) { return x < 0 ? alpha * x : x; });
    case UnaryOp::kLog:
      return Each(in, out, n, [](T x) { return std::log(x); });
    case UnaryOp::kNeg:
      return Each(in, out, n, [](T x) { return -x; });
    case UnaryOp::kReciprocal:
      return Each(in, out, n, [](T x) { return 1 / x; });
    case UnaryOp::kRelu:
      return Each(in, out, n, [](T x) { return x < 0 ? T(0) : x; });
    case UnaryOp::kSigmoid:
      return Each(in, out, n, [](T x) { return 1 / (1 + std::exp(-x)); });
    case UnaryOp::kSqrt:
      return Each(in, out, n, [](T x) { return std::sqrt(x); });
    case UnaryOp::kTanh:
      return Each(in, out, n, [](T x) { return std::tanh(x); });
  }
}

template <typename T>
bool RunInteger(UnaryOp op, const T* in, T* out, int64_t n) {
  using U = std::make_unsigned_t<T>;
  const auto negative = [](T x) { return static_cast<T>(U{0} - static_cast<U>(x)); };
  if (op == UnaryOp::kAbs) Each(in, out, n, [&](T x) { return x < 0 ? negative(x) : x; });
  if (op == UnaryOp::kNeg) Each(in, out, n, negative);
  if (op == UnaryOp::kRelu) Each(in, out, n, [](T x) { return x < 0 ? T(0) : x; });
  return op == UnaryOp::kAbs || op == UnaryOp::kNeg || op == UnaryOp::kRelu;
}

template <typename T>
T BoundOf(const Buffers& buffers, size_t i, T otherwise) {
  return i < buffers.in.size() && buffers.in[i] != nullptr ? *static_cast<const T*>(buffers.in[i]) : otherwise;
}

// A clip whose bounds are tensors.
template <typename T>
std::unique_ptr<Kernel> MakeClip(const Operation& operation) {
  return MakeFunction(
      operation.in.size(),
      [n = operation.out[0].count()](const Buffers& b) -> const char* {
        const T low = BoundOf<T>(b, 1, std::numeric_limits<T>::lowest()), high = BoundOf<T>(b, 2, std::numeric_limits<T>::max());
        const T infinite = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : T(0);
        const bool open_low = b.in.size() < 2 || b.in[1] == nullptr, open_high = b.in.size() < 3 || b.in[2] == nullptr;
        const bool real = std::numeric_limits<T>::has_infinity;
        const T from = real && open_low ? static_cast<T>(-infinite) : low, to = real && open_high ? infinite : high;
        Each(static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]), n, [=](T x) { return Clipped(x, from, to); });
        return nullptr;
      },
      true);
}

}  // namespace

template <typename T>
void Apply(const Unary& unary, T* data, int64_t count) {
  if (unary.op != UnaryOp::kIdentity) RunFloat(unary, static_cast<const T*>(data), data, count);
}
template void Apply<float>(const Unary&, float*, int64_t);
template void Apply<double>(const Unary&, double*, int64_t);

base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation& operation) {
  const Unary unary = std::get<Unary>(operation.params);
  const int64_t n = operation.out[0].count();
  const uint8_t dtype = operation.in[0].dtype;
  if (unary.op == UnaryOp::kClip && (operation.in.size() > 1 || (dtype != WF_F32 && dtype != WF_F64))) {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
        dtype, [&]<typename T>() { return MakeClip<T>(operation); });
  }
  auto kernel = ForType<float, double>(dtype, [&]<typename T>() {
    return MakeFunction(
        1,
        [unary, n](const Buffers& b) -> const char* {
          RunFloat(unary, static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]), n);
          return nullptr;
        },
        true);
  });
  if (kernel != nullptr) return kernel;
  if (unary.op != UnaryOp::kAbs && unary.op != UnaryOp::kNeg && unary.op != UnaryOp::kRelu) return std::unique_ptr<Kernel>();
  return ForType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(dtype, [&]<typename T>() {
    return MakeFunction(
        1,
        [op = unary.op, n](const Buffers& b) -> const char* {
          RunInteger(op, static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]), n);
          return nullptr;
        },
        true);
  });
}

}  // namespace wf::kernels::ref
