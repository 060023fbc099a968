#include <cmath>

#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

enum Input : size_t { kX, kScale, kShift, kSkip, kBias, kInputs };

struct Shape {
  int64_t rows, n;      // x as rows that are normalised each
  int64_t skip_count;   // elements of skip, which repeats; a multiple of n
  bool by_row;          // scale and shift, where they are, are one row
  Broadcast<2> affine;  // else
  uint8_t stash;        // type of mean and inverse
};

template <typename T>
const T* InOf(const Buffers& b, size_t i) {
  return i < b.in.size() ? static_cast<const T*>(b.in[i]) : nullptr;
}

void* OutOf(const Buffers& b, size_t i) { return i != 0 && i < b.out.size() ? b.out[i] : nullptr; }

// Sums in lanes, so that an addition need not wait for the one before.
template <typename T, typename F>
double SumOf(const T* x, int64_t n, F f) {
  constexpr int64_t kLanes = 8;
  double lane[kLanes] = {}, sum = 0;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lane[k] += f(static_cast<double>(x[i + k]));
  }
  for (; i < n; ++i) sum += f(static_cast<double>(x[i]));
  for (const double each : lane) sum += each;
  return sum;
}

void Put(void* out, uint8_t dtype, int64_t at, double value) {
  if (out == nullptr) return;
  if (dtype == WF_F64) {
    static_cast<double*>(out)[at] = value;
  } else {
    static_cast<float*>(out)[at] = static_cast<float>(value);
  }
}

// What is normalised: x itself, or a row of the sum in `out`.
template <typename T>
const T* RowOf(const Shape& s, const Buffers& b, int64_t row, T* out) {
  const T *x = InOf<T>(b, kX) + row * s.n, *skip = InOf<T>(b, kSkip), *bias = InOf<T>(b, kBias);
  if (skip == nullptr && bias == nullptr) return x;
  if (skip != nullptr) skip += row * s.n % s.skip_count;
  for (int64_t i = 0; i < s.n; ++i) out[i] = x[i] + (skip == nullptr ? T(0) : skip[i]) + (bias == nullptr ? T(0) : bias[i]);
  return out;
}

template <typename T>
void ScaleRow(const T* scale, const T* shift, T* y, int64_t n) {
  if (scale != nullptr) {
    for (int64_t i = 0; i < n; ++i) y[i] *= scale[i];
  }
  if (shift != nullptr) {
    for (int64_t i = 0; i < n; ++i) y[i] += shift[i];
  }
}

template <typename T>
void ScaleAll(const Shape& s, const T* scale, const T* shift, T* y) {
  s.affine.ForEach([&](int64_t out, const auto& offset, const auto& stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      T& value = y[out + i];
      if (scale != nullptr) value *= scale[offset[0] + i * stride[0]];
      if (shift != nullptr) value += shift[offset[1] + i * stride[1]];
    }
  });
}

template <typename T>
void Run(const Shape& s, const LayerNorm& norm, const Buffers& b) {
  T *y = static_cast<T*>(b.out[0]), *sums = static_cast<T*>(OutOf(b, norm.sum));
  const T *scale = InOf<T>(b, kScale), *shift = InOf<T>(b, kShift);
  const double count = static_cast<double>(s.n), epsilon = static_cast<double>(norm.epsilon);
  for (int64_t row = 0; row < s.rows; ++row) {
    T* out = y + row * s.n;
    const T* v = RowOf(s, b, row, sums == nullptr ? out : sums + row * s.n);
    if (sums != nullptr && v != sums + row * s.n) std::copy(v, v + s.n, sums + row * s.n);
    const double mean = norm.centre ? SumOf(v, s.n, [](double x) { return x; }) / count : 0;
    const double variance = SumOf(v, s.n, [mean](double x) { return (x - mean) * (x - mean); }) / count;
    const double inverse = 1 / std::sqrt(variance + epsilon);
    const T middle = static_cast<T>(mean), factor = static_cast<T>(inverse);
    for (int64_t i = 0; i < s.n; ++i) out[i] = (v[i] - middle) * factor;
    if (s.by_row) ScaleRow(scale, shift, out, s.n);
    Put(OutOf(b, norm.mean), s.stash, row, mean);
    Put(OutOf(b, norm.inverse), s.stash, row, inverse);
  }
  if (!s.by_row) ScaleAll(s, scale, shift, y);
}

Shape ShapeOf(const LayerNorm& norm, const Operation& operation) {
  const std::vector<int64_t>& dim = operation.in[kX].dim;
  int64_t rows = 1, n = 1;
  for (size_t i = 0; i < dim.size(); ++i) (i < norm.axis ? rows : n) *= dim[i];
  bool by_row = true;
  std::array<std::span<const int64_t>, 2> affine;
  for (size_t i = 0; i < 2; ++i) {
    if (!HasInput(operation, kScale + i)) continue;
    const TensorInfo& info = operation.in[kScale + i];
    affine[i] = info.dim;
    by_row = by_row && info.count() == n && info.dim.size() <= dim.size() - norm.axis;
  }
  uint8_t stash = WF_F32;
  for (const size_t i : {norm.mean, norm.inverse}) {
    if (i != 0 && i < operation.out.size() && operation.out[i].dtype != 0) stash = operation.out[i].dtype;
  }
  const int64_t skip = HasInput(operation, kSkip) ? std::max<int64_t>(operation.in[kSkip].count(), 1) : 1;
  return {rows, n, skip, by_row, Broadcast<2>(dim, affine), stash};
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeLayerNorm(const Operation& operation) {
  const LayerNorm norm = std::get<LayerNorm>(operation.params);
  for (const TensorInfo& in : operation.in) {
    if (in.dtype != 0 && in.dtype != operation.in[kX].dtype) return std::unique_ptr<Kernel>();
  }
  const Shape shape = ShapeOf(norm, operation);
  if (shape.stash != WF_F32 && shape.stash != WF_F64) return std::unique_ptr<Kernel>();
  return ForType<float, double>(operation.in[kX].dtype, [&]<typename T>() {
    return MakeFunction(operation.in.size(), [shape, norm](const Buffers& b) -> const char* {
      Run<T>(shape, norm, b);
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
