#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// The numbers of numpy.random.RandomState(seed), with which ONNX's reference computes.
class Generator {
 public:
  explicit Generator(uint32_t seed) : twister_(seed) {}

  double Uniform() {  // of 53 bits, from 0 to below 1
    const uint64_t high = static_cast<uint32_t>(twister_()) >> 5, low = static_cast<uint32_t>(twister_()) >> 6;
    return static_cast<double>((high << 26) + low) * 0x1p-53;
  }

  double Normal() {  // two at a time, by Marsaglia's polar method
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * Uniform() - 1;
      y = 2 * Uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    second_ = factor * x;
    has_second_ = true;
    return factor * y;
  }

 private:
  std::mt19937 twister_;
  double second_ = 0;
  bool has_second_ = false;
};

std::unique_ptr<Kernel> MakeNumbers(const RandomNumbers& random, const Operation& operation) {
  return ForType<float, double>(operation.out[0].dtype, [&]<typename T>() {
    return MakeFunction(operation.in.size(), [random, n = operation.out[0].count()](const Buffers& buffers) -> const char* {
      Generator generator(random.seed);
      T* y = static_cast<T*>(buffers.out[0]);
      const bool normal = random.kind == RandomNumbers::Kind::kNormal;
      const T begin = static_cast<T>(random.a), scale = static_cast<T>(normal ? random.b : random.b - random.a);
      for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(normal ? generator.Normal() : generator.Uniform()) * scale + begin;
      return nullptr;
    });
  });
}

std::unique_ptr<Kernel> MakeBernoulli(const RandomNumbers& random, const Operation& operation) {
  const uint8_t out = operation.out[0].dtype == WF_BOOL ? uint8_t{WF_U8} : operation.out[0].dtype;
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(out, [&]<typename Out>() {
      return MakeFunction(1, [random, n = operation.out[0].count()](const Buffers& buffers) -> const char* {
        Generator generator(random.seed);
        const T* x = static_cast<const T*>(buffers.in[0]);
        Out* y = static_cast<Out*>(buffers.out[0]);
        for (int64_t i = 0; i < n; ++i) y[i] = generator.Uniform() < static_cast<double>(x[i]) ? Out(1) : Out(0);
        return nullptr;
      });
    });
  });
}

// Of classes whose weights have these logarithms; `point` is from 0 to below 1.
template <typename T>
int64_t ClassAt(const T* x, int64_t classes, double high, double point) {
  double sum = 0;
  for (int64_t i = 0; i < classes; ++i) sum += std::exp(static_cast<double>(x[i]) - high);
  double left = point * sum;
  int64_t last = 0;
  for (int64_t i = 0; i < classes; ++i) {
    const double weight = std::exp(static_cast<double>(x[i]) - high);
    if (weight > 0) last = i;
    left -= weight;
    if (left < 0) return i;
  }
  return last;  // what rounding left over
}

std::unique_ptr<Kernel> MakeMultinomial(const RandomNumbers& random, const Operation& operation) {
  const int64_t rows = operation.in[0].dim[0], classes = operation.in[0].dim[1], samples = operation.out[0].dim[1];
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return ForType<int32_t, int64_t>(operation.out[0].dtype, [&]<typename Out>() {
      return MakeFunction(1, [=](const Buffers& buffers) -> const char* {
        Generator generator(random.seed);
        const T* x = static_cast<const T*>(buffers.in[0]);
        Out* y = static_cast<Out*>(buffers.out[0]);
        for (int64_t row = 0; row < rows; ++row, x += classes) {
          double high = -std::numeric_limits<double>::infinity();
          for (int64_t i = 0; i < classes; ++i) high = std::max(high, static_cast<double>(x[i]));
          if (samples > 0 && !std::isfinite(high)) return "a row of classes without a weight that can be drawn";
          for (int64_t i = 0; i < samples; ++i) *y++ = static_cast<Out>(ClassAt(x, classes, high, generator.Uniform()));
        }
        return nullptr;
      });
    });
  });
}

// Where nothing is left out.
template <typename T>
void KeepAll(bool is_mask_bool, int64_t n, const Buffers& buffers) {
  std::copy_n(static_cast<const T*>(buffers.in[0]), n, static_cast<T*>(buffers.out[0]));
  if (buffers.out.size() < 2 || buffers.out[1] == nullptr) return;
  if (is_mask_bool) {
    std::fill_n(static_cast<uint8_t*>(buffers.out[1]), n, uint8_t{1});
  } else {
    std::fill_n(static_cast<T*>(buffers.out[1]), n, T(1));
  }
}

// Reads a number that may be absent.
template <typename T>
double NumberOf(const Buffers& buffers, size_t i, double otherwise) {
  return i < buffers.in.size() && buffers.in[i] != nullptr ? static_cast<double>(*static_cast<const T*>(buffers.in[i])) : otherwise;
}

// REQUIRES: the mask is of bools, as it is wherever training can be asked for.
template <typename T>
const char* Drop(const RandomNumbers& random, double ratio, int64_t n, const Buffers& buffers) {
  if (!(ratio >= 0 && ratio <= 1)) return "a ratio that is not from 0 to 1";
  const T* x = static_cast<const T*>(buffers.in[0]);
  T* y = static_cast<T*>(buffers.out[0]);
  uint8_t* mask = buffers.out.size() > 1 ? static_cast<uint8_t*>(buffers.out[1]) : nullptr;
  Generator generator(random.seed);
  const T scale = static_cast<T>(1 / (1 - ratio));
  for (int64_t i = 0; i < n; ++i) {
    const bool kept = generator.Uniform() >= ratio;
    y[i] = kept ? x[i] * scale : T(0);
    if (mask != nullptr) mask[i] = kept ? 1 : 0;
  }
  return nullptr;
}

std::unique_ptr<Kernel> MakeDropout(const RandomNumbers& random, const Operation& operation) {
  const bool has_ratio = operation.in.size() > 1 && operation.in[1].dtype != 0;
  const bool is_mask_bool = operation.out.size() > 1 && operation.out[1].dtype == WF_BOOL;
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return ForType<float, double>(has_ratio ? operation.in[1].dtype : uint8_t{WF_F32}, [&]<typename Ratio>() {
      return MakeFunction(operation.in.size(), [random, is_mask_bool, n = operation.out[0].count()](const Buffers& buffers) -> const char* {
        const double ratio = NumberOf<Ratio>(buffers, 1, 0.5);
        if (NumberOf<uint8_t>(buffers, 2, 0) != 0 && ratio != 0) return Drop<T>(random, ratio, n, buffers);
        KeepAll<T>(is_mask_bool, n, buffers);
        return nullptr;
      });
    });
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeRandomNumbers(const Operation& operation) {
  const RandomNumbers& random = std::get<RandomNumbers>(operation.params);
  switch (random.kind) {
    case RandomNumbers::Kind::kUniform:
    case RandomNumbers::Kind::kNormal:
      return MakeNumbers(random, operation);
    case RandomNumbers::Kind::kBernoulli:
      return MakeBernoulli(random, operation);
    case RandomNumbers::Kind::kMultinomial:
      return MakeMultinomial(random, operation);
    case RandomNumbers::Kind::kDropout:
      return MakeDropout(random, operation);
  }
  return std::unique_ptr<Kernel>();
}

}  // namespace wf::kernels::ref
