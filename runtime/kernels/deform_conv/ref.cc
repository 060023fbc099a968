#include <algorithm>
#include <cmath>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

struct Shape {
  int64_t n, c, m, h, w, kh, kw, oh, ow;
  DeformConv conv;
};

template <typename T>
T At(const Shape& s, const T* plane, int64_t y, int64_t x) {
  return y < 0 || y >= s.h || x < 0 || x >= s.w ? T(0) : plane[y * s.w + x];
}

template <typename T>
T Between(const Shape& s, const T* plane, double y, double x) {
  // Far outside, where no whole number may be made of it; NaN too.
  if (!(y > -1 && y < static_cast<double>(s.h) && x > -1 && x < static_cast<double>(s.w))) return T(0);
  const double top = std::floor(y), left = std::floor(x);
  const int64_t row = static_cast<int64_t>(top), column = static_cast<int64_t>(left);
  const T down = static_cast<T>(y - top), right = static_cast<T>(x - left);
  const T upper = At(s, plane, row, column) * (1 - right) + At(s, plane, row, column + 1) * right;
  const T lower = At(s, plane, row + 1, column) * (1 - right) + At(s, plane, row + 1, column + 1) * right;
  return upper * (1 - down) + lower * down;
}

struct Tap {
  int64_t n, channel, index;
};

// What one tap reads of one channel at all positions.
template <typename T>
void Sample(const Shape& s, const Tap& of, const Buffers& b, T* out) {
  const auto [n, channel, tap] = of;
  const T *x = static_cast<const T*>(b.in[0]), *offset = static_cast<const T*>(b.in[2]);
  const T* mask = b.in.size() > 4 ? static_cast<const T*>(b.in[4]) : nullptr;
  const int64_t taps = s.kh * s.kw, places = s.oh * s.ow;
  const int64_t part = channel / (s.c / s.conv.parts), first = ((n * s.conv.parts + part) * taps + tap) * places;
  const T* plane = x + (n * s.c + channel) * s.h * s.w;
  for (int64_t i = 0; i < s.oh; ++i) {
    for (int64_t j = 0; j < s.ow; ++j) {
      const int64_t at = i * s.ow + j;
      const int64_t top = i * s.conv.stride[0] - s.conv.pad_begin[0] + tap / s.kw * s.conv.dilation[0];
      const int64_t left = j * s.conv.stride[1] - s.conv.pad_begin[1] + tap % s.kw * s.conv.dilation[1];
      const T *down = offset + 2 * first, *right = down + places;
      const T value = Between(s, plane, static_cast<double>(top) + static_cast<double>(down[at]),
                              static_cast<double>(left) + static_cast<double>(right[at]));
      out[at] = mask == nullptr ? value : value * mask[first + at];
    }
  }
}

template <typename T>
void Run(const Shape& s, const Buffers& b) {
  const T* w = static_cast<const T*>(b.in[1]);
  const T* bias = b.in.size() > 3 ? static_cast<const T*>(b.in[3]) : nullptr;
  T *y = static_cast<T*>(b.out[0]), *sampled = static_cast<T*>(b.scratch);
  const int64_t taps = s.kh * s.kw, places = s.oh * s.ow, channels = s.c / s.conv.group, filters = s.m / s.conv.group;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t group = 0; group < s.conv.group; ++group) {
      for (int64_t k = 0; k < channels * taps; ++k) {
        Sample(s, {n, group * channels + k / taps, k % taps}, b, sampled + k * places);
      }
      const int64_t m = group * filters;
      T* out = y + (n * s.m + m) * places;
      for (int64_t i = 0; i < filters; ++i) std::fill_n(out + i * places, places, bias == nullptr ? T(0) : bias[m + i]);
      const Matrix<T> filter{w + m * channels * taps, channels * taps, 1};
      FastProduct(Product<T>{filters, places, channels * taps, filter, sampled, places, out, places});
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeDeformConv(const Operation& operation) {
  const std::vector<int64_t>&x = operation.in[0].dim, &w = operation.in[1].dim, &out = operation.out[0].dim;
  const Shape shape{x[0], x[1], w[0], x[2], x[3], w[2], w[3], out[2], out[3], std::get<DeformConv>(operation.params)};
  const int64_t size = base::DTypeSize(operation.in[0].dtype);
  int64_t scratch = shape.c / shape.conv.group * shape.kh * shape.kw;
  if (__builtin_mul_overflow(scratch, shape.oh * shape.ow, &scratch) || scratch > (int64_t{4} << 30) / size)
    return base::Status(base::kOutOfRange, "what it computes on the way takes more than 4 GiB");
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [shape](const Buffers& b) -> const char* {
      Run<T>(shape, b);
      return nullptr;
    });
    kernel->scratch_bytes = scratch * size;
    return kernel;
  });
}

}  // namespace wf::kernels::ref
