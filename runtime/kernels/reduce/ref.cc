#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/kernels/reduce/walk.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;

// What a root or a logarithm makes of a sum.
template <typename T, typename Sum, typename F>
T Finished(Sum sum, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(f(sum));
  } else {
    using Whole = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    return Saturated<T>(f(static_cast<double>(static_cast<Whole>(sum))));
  }
}

// Each: an accumulator, what it is of nothing, with one element more, of two parts, and the result.
template <typename T>
struct Sum {
  using Acc = SumOf<T>;
  static Acc Empty() { return 0; }
  static Acc Take(Acc a, T x) { return a + static_cast<Acc>(x); }
  static Acc Join(Acc a, Acc b) { return a + b; }
  static T Done(Acc a, int64_t) { return static_cast<T>(a); }
};

template <typename T>
struct Mean : Sum<T> {
  static T Done(SumOf<T> a, int64_t count) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(a / static_cast<double>(count));
    } else {
      using Whole = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return count == 0 ? T(0) : static_cast<T>(static_cast<Whole>(a) / static_cast<Whole>(count));
    }
  }
};

template <typename T>
struct Magnitudes : Sum<T> {
  using Acc = SumOf<T>;
  static Acc Take(Acc a, T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return a + std::abs(static_cast<double>(x));
    } else if constexpr (std::is_signed_v<T>) {
      return x < 0 ? a - static_cast<Acc>(x) : a + static_cast<Acc>(x);
    } else {
      return a + static_cast<Acc>(x);
    }
  }
};

template <typename T>
struct Squares : Sum<T> {
  using Acc = SumOf<T>;
  static Acc Take(Acc a, T x) { return a + static_cast<Acc>(x) * static_cast<Acc>(x); }
};

template <typename T>
struct Length : Squares<T> {
  static T Done(SumOf<T> a, int64_t) {
    return Finished<T>(a, [](double sum) { return std::sqrt(sum); });
  }
};

template <typename T>
struct Logarithm : Sum<T> {
  static T Done(SumOf<T> a, int64_t) {
    return Finished<T>(a, [](double sum) { return std::log(sum); });
  }
};

template <typename T>
struct Product {
  using Acc = SumOf<T>;
  static Acc Empty() { return 1; }
  static Acc Take(Acc a, T x) { return a * static_cast<Acc>(x); }
  static Acc Join(Acc a, Acc b) { return a * b; }
  static T Done(Acc a, int64_t) { return static_cast<T>(a); }
};

template <typename T, bool kMax>
struct Extreme {
  using Acc = T;
  static Acc Empty() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) {
      return kMax ? static_cast<T>(-Limits::infinity()) : Limits::infinity();
    } else {
      return kMax ? Limits::lowest() : Limits::max();
    }
  }
  static Acc Take(Acc a, T x) { return (kMax ? x > a : x < a) || IsNan(x) ? x : a; }
  static Acc Join(Acc a, Acc b) { return Take(a, b); }
  static T Done(Acc a, int64_t) { return a; }
};
template <typename T>
using Maximum = Extreme<T, true>;
template <typename T>
using Minimum = Extreme<T, false>;

// The sum of exp(x - high), which no large element takes out of range.
struct Scaled {
  double high = -std::numeric_limits<double>::infinity(), sum = 0;
};

template <typename T>
struct LogSumExp {
  using Acc = Scaled;
  static Acc Empty() { return {}; }
  static Acc Take(Acc a, T x) { return Join(a, {static_cast<double>(x), 1}); }
  static Acc Join(Acc a, Acc b) {
    if (b.high == a.high) return {a.high, a.sum + b.sum};
    if (b.high > a.high) return {b.high, a.sum * std::exp(a.high - b.high) + b.sum};
    return {a.high, a.sum + b.sum * std::exp(b.high - a.high)};
  }
  static T Done(Acc a, int64_t) {
    return Finished<T>(0.0, [a](double) { return std::log(a.sum) + a.high; });
  }
};

// One run of elements that all go into one result: in lanes, so that an addition need not wait for the one before.
template <typename Op, typename T>
typename Op::Acc TakeRun(typename Op::Acc acc, const T* x, int64_t n) {
  constexpr int64_t kLanes = 8;
  int64_t i = 0;
  if (n >= 2 * kLanes) {
    typename Op::Acc lane[kLanes];
    std::fill(lane, lane + kLanes, Op::Empty());
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t k = 0; k < kLanes; ++k) lane[k] = Op::Take(lane[k], x[i + k]);
    }
    for (const auto& each : lane) acc = Op::Join(acc, each);
  }
  for (; i < n; ++i) acc = Op::Take(acc, x[i]);
  return acc;
}

template <typename Op, typename T>
std::unique_ptr<Kernel> MakeOf(const Walk& walk) {
  using Acc = typename Op::Acc;
  auto kernel = MakeFunction(1, [walk](const Buffers& b) -> const char* {
    Acc* acc = static_cast<Acc*>(b.scratch);
    std::fill(acc, acc + walk.out_count, Op::Empty());
    const T* x = static_cast<const T*>(b.in[0]);
    ForEachRun(walk, [&](int64_t at, int64_t out, int64_t stride, int64_t n) {
      if (stride == 0) {
        acc[out] = TakeRun<Op>(acc[out], x + at, n);
      } else {
        for (int64_t i = 0; i < n; ++i) acc[out + i] = Op::Take(acc[out + i], x[at + i]);
      }
    });
    T* y = static_cast<T*>(b.out[0]);
    for (int64_t i = 0; i < walk.out_count; ++i) y[i] = Op::Done(acc[i], walk.reduced);
    return nullptr;
  });
  kernel->scratch_bytes = walk.out_count * static_cast<int64_t>(sizeof(Acc));
  return kernel;
}

template <template <typename> typename Op>
std::unique_ptr<Kernel> MakeNumeric(uint8_t dtype, const Walk& walk) {
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      dtype, [&]<typename T>() { return MakeOf<Op<T>, T>(walk); });
}

template <template <typename> typename Op>
std::unique_ptr<Kernel> MakeOrdered(uint8_t dtype, const Walk& walk) {
  if (dtype == WF_BOOL) return MakeOf<Op<bool>, bool>(walk);
  return MakeNumeric<Op>(dtype, walk);
}

std::unique_ptr<Kernel> MakePower(uint8_t dtype, const Walk& walk, double p) {
  return ForType<float, double>(dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [walk, p](const Buffers& b) -> const char* {
      double* acc = static_cast<double*>(b.scratch);
      std::fill(acc, acc + walk.out_count, 0.0);
      const T* x = static_cast<const T*>(b.in[0]);
      ForEachRun(walk, [&](int64_t at, int64_t out, int64_t stride, int64_t n) {
        for (int64_t i = 0; i < n; ++i) acc[out + i * stride] += std::pow(std::abs(static_cast<double>(x[at + i])), p);
      });
      T* y = static_cast<T*>(b.out[0]);
      for (int64_t i = 0; i < walk.out_count; ++i) y[i] = static_cast<T>(std::pow(acc[i], 1 / p));
      return nullptr;
    });
    kernel->scratch_bytes = walk.out_count * static_cast<int64_t>(sizeof(double));
    return kernel;
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeReduce(const Operation& operation) {
  const Reduce& reduce = std::get<Reduce>(operation.params);
  const Walk walk = WalkOf(operation.in[0].dim, reduce.axis);
  const uint8_t dtype = operation.in[0].dtype;
  switch (reduce.op) {
    case ReduceOp::kSum:
      return MakeNumeric<Sum>(dtype, walk);
    case ReduceOp::kMean:
      return MakeNumeric<Mean>(dtype, walk);
    case ReduceOp::kMax:
      return MakeOrdered<Maximum>(dtype, walk);
    case ReduceOp::kMin:
      return MakeOrdered<Minimum>(dtype, walk);
    case ReduceOp::kProd:
      return MakeNumeric<Product>(dtype, walk);
    case ReduceOp::kL1:
      return MakeNumeric<Magnitudes>(dtype, walk);
    case ReduceOp::kL2:
      return MakeNumeric<Length>(dtype, walk);
    case ReduceOp::kLp:
      return MakePower(dtype, walk, reduce.p);
    case ReduceOp::kLogSum:
      return MakeNumeric<Logarithm>(dtype, walk);
    case ReduceOp::kLogSumExp:
      return MakeNumeric<LogSumExp>(dtype, walk);
    case ReduceOp::kSumSquare:
      return MakeNumeric<Squares>(dtype, walk);
  }
  return std::unique_ptr<Kernel>();
}

}  // namespace wf::kernels::ref
