#include <algorithm>
#include <cmath>
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

template <typename T>
T Softplus(T x) {  // what exp makes of large x does not overflow
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <typename T, typename F>
void Each(const T* in, T* out, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) out[i] = f(in[i]);
}

// False: another function.
template <typename T>
bool RunActivation(const Unary& u, const T* in, T* out, int64_t n) {
  const T alpha = static_cast<T>(u.alpha), beta = static_cast<T>(u.beta), half = T(0.5);
  const T root = std::sqrt(half), rate = T(0.7978845608028654);  // of 2/pi
  const auto each = [&](auto f) {
    Each(in, out, n, f);
    return true;
  };
  switch (u.op) {
    case UnaryOp::kCelu:
      return each([=](T x) { return x < 0 ? alpha * std::expm1(x / alpha) : x; });
    case UnaryOp::kElu:
      return each([=](T x) { return x < 0 ? alpha * std::expm1(x) : x; });
    case UnaryOp::kGelu:
      return each([=](T x) { return half * x * (1 + std::erf(x * root)); });
    case UnaryOp::kGeluTanh:
      return each([=](T x) { return half * x * (1 + std::tanh(rate * (x + T(0.044715) * x * x * x))); });
    case UnaryOp::kHardSigmoid:
      return each([=](T x) { return Clipped(alpha * x + beta, T(0), T(1)); });
    case UnaryOp::kHardSwish:
      return each([=](T x) { return x * Clipped(x / 6 + half, T(0), T(1)); });
    case UnaryOp::kLeakyRelu:
      return each([=](T x) { return x < 0 ? alpha * x : x; });
    case UnaryOp::kMish:
      return each([](T x) { return x * std::tanh(Softplus(x)); });
    case UnaryOp::kRelu:
      return each([](T x) { return x < 0 ? T(0) : x; });
    case UnaryOp::kSelu:
      return each([=](T x) { return beta * (x < 0 ? alpha * std::expm1(x) : x); });
    case UnaryOp::kSigmoid:
      return each([](T x) { return 1 / (1 + std::exp(-x)); });
    case UnaryOp::kSoftplus:
      return each([](T x) { return Softplus(x); });
    case UnaryOp::kSoftsign:
      return each([](T x) { return x / (1 + std::abs(x)); });
    case UnaryOp::kSwish:
      return each([=](T x) { return x / (1 + std::exp(-alpha * x)); });
    case UnaryOp::kThresholdedRelu:
      return each([=](T x) { return x > alpha ? x : T(0); });
    default:
      return false;
  }
}

// False: another function.
template <typename T>
bool RunRounding(UnaryOp op, const T* in, T* out, int64_t n) {
  switch (op) {
    case UnaryOp::kCeil:
      Each(in, out, n, [](T x) { return std::ceil(x); });
      return true;
    case UnaryOp::kFloor:
      Each(in, out, n, [](T x) { return std::floor(x); });
      return true;
    case UnaryOp::kRound:
      Each(in, out, n, [](T x) { return std::nearbyint(x); });
      return true;
    default:
      return false;
  }
}

template <typename T>
void RunTrigonometry(UnaryOp op, const T* in, T* out, int64_t n) {
  switch (op) {
    case UnaryOp::kAcos:
      return Each(in, out, n, [](T x) { return std::acos(x); });
    case UnaryOp::kAcosh:
      return Each(in, out, n, [](T x) { return std::acosh(x); });
    case UnaryOp::kAsin:
      return Each(in, out, n, [](T x) { return std::asin(x); });
    case UnaryOp::kAsinh:
      return Each(in, out, n, [](T x) { return std::asinh(x); });
    case UnaryOp::kAtan:
      return Each(in, out, n, [](T x) { return std::atan(x); });
    case UnaryOp::kAtanh:
      return Each(in, out, n, [](T x) { return std::atanh(x); });
    case UnaryOp::kCos:
      return Each(in, out, n, [](T x) { return std::cos(x); });
    case UnaryOp::kCosh:
      return Each(in, out, n, [](T x) { return std::cosh(x); });
    case UnaryOp::kSin:
      return Each(in, out, n, [](T x) { return std::sin(x); });
    case UnaryOp::kSinh:
      return Each(in, out, n, [](T x) { return std::sinh(x); });
    case UnaryOp::kTan:
      return Each(in, out, n, [](T x) { return std::tan(x); });
    case UnaryOp::kTanh:
      return Each(in, out, n, [](T x) { return std::tanh(x); });
    default:
      WF_CHECK(false, static_cast<int>(op));
  }
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
    case UnaryOp::kLog:
      return Each(in, out, n, [](T x) { return std::log(x); });
    case UnaryOp::kNeg:
      return Each(in, out, n, [](T x) { return -x; });
    case UnaryOp::kReciprocal:
      return Each(in, out, n, [](T x) { return 1 / x; });
    case UnaryOp::kShrink:
      return Each(in, out, n, [=](T x) { return x < -alpha ? x + beta : x > alpha ? x - beta : T(0); });
    case UnaryOp::kSign:
      return Each(in, out, n, [](T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x == 0 ? T(0) : x; });
    case UnaryOp::kSqrt:
      return Each(in, out, n, [](T x) { return std::sqrt(x); });
    default:
      if (!RunActivation(u, in, out, n) && !RunRounding(u.op, in, out, n)) RunTrigonometry(u.op, in, out, n);
  }
}

template <typename T>
constexpr bool kHasSign = std::is_signed_v<T>;

// False: not of integers.
template <typename T>
bool RunInteger(const Unary& u, const T* in, T* out, int64_t n) {
  using U = std::make_unsigned_t<T>;
  const auto negative = [](T x) { return static_cast<T>(U{0} - static_cast<U>(x)); };
  const double lambda = static_cast<double>(u.alpha), bias = static_cast<double>(u.beta);
  const auto shrunk = [=](T x) {
    const double wide = static_cast<double>(x);
    return wide < -lambda ? Saturated<T>(wide + bias) : wide > lambda ? Saturated<T>(wide - bias) : T(0);
  };
  switch (u.op) {
    case UnaryOp::kAbs:
      Each(in, out, n, [&](T x) { return kHasSign<T> && x < 0 ? negative(x) : x; });
      return true;
    case UnaryOp::kBitNot:
      Each(in, out, n, [](T x) { return static_cast<T>(~x); });
      return true;
    case UnaryOp::kErf:
      Each(in, out, n, [](T x) { return static_cast<T>(std::erf(static_cast<double>(x))); });
      return true;
    case UnaryOp::kNeg:
      Each(in, out, n, negative);
      return true;
    case UnaryOp::kRelu:
      Each(in, out, n, [](T x) { return kHasSign<T> && x < 0 ? T(0) : x; });
      return true;
    case UnaryOp::kShrink:
      Each(in, out, n, shrunk);
      return true;
    case UnaryOp::kSign:
      Each(in, out, n, [](T x) { return static_cast<T>(x > 0 ? 1 : kHasSign<T> && x < 0 ? -1 : 0); });
      return true;
    default:
      return false;
  }
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
        Each(static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]), n, [=](T x) { return Clipped(x, low, high); });
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

namespace {

bool GivesBool(UnaryOp op) { return op == UnaryOp::kIsInf || op == UnaryOp::kIsNan || op == UnaryOp::kNot; }

std::unique_ptr<Kernel> MakeTest(const Unary& unary, uint8_t dtype, int64_t n) {
  const auto make = [n]<typename T>(T, auto test) {
    return MakeFunction(1, [n, test](const Buffers& b) -> const char* {
      const T* x = static_cast<const T*>(b.in[0]);
      uint8_t* y = static_cast<uint8_t*>(b.out[0]);
      for (int64_t i = 0; i < n; ++i) y[i] = test(x[i]) ? 1 : 0;
      return nullptr;
    });
  };
  if (unary.op == UnaryOp::kNot) {
    return dtype == WF_BOOL ? make(uint8_t{0}, [](uint8_t x) { return x == 0; }) : nullptr;
  }
  return ForType<float, double>(dtype, [&]<typename T>() {
    if (unary.op == UnaryOp::kIsNan) return make(T(0), [](T x) { return std::isnan(x); });
    const bool negative = unary.alpha != 0, positive = unary.beta != 0;
    return make(T(0), [=](T x) { return std::isinf(x) && (x < 0 ? negative : positive); });
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation& operation) {
  const Unary unary = std::get<Unary>(operation.params);
  const int64_t n = operation.out[0].count();
  const uint8_t dtype = operation.in[0].dtype;
  if (GivesBool(unary.op)) return MakeTest(unary, dtype, n);
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
  return ForType<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(dtype, [&]<typename T>() {
    if (!RunInteger<T>(unary, nullptr, nullptr, 0)) return std::unique_ptr<Kernel>();
    return MakeFunction(
        1,
        [unary, n](const Buffers& b) -> const char* {
          RunInteger(unary, static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]), n);
          return nullptr;
        },
        true);
  });
}

}  // namespace wf::kernels::ref
