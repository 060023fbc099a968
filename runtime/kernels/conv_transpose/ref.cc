#include <algorithm>
#include <array>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

using Triple = std::array<int64_t, 3>;

// Shapes with three spatial axes, leading ones filled with 1.
struct Shape {
  int64_t n, c, m, group;
  Triple in, out, kernel, stride, dilation, pad;

  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

Shape ShapeOf(const ConvTranspose& conv, const Operation& operation) {
  Shape shape{operation.in[0].dim[0],
              operation.in[0].dim[1],
              operation.out[0].dim[1],
              conv.group,
              {1, 1, 1},
              {1, 1, 1},
              {1, 1, 1},
              {1, 1, 1},
              {1, 1, 1},
              {0, 0, 0}};
  const size_t spatial = operation.in[0].dim.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    const size_t at = 3 - spatial + i;
    shape.in[at] = operation.in[0].dim[2 + i];
    shape.out[at] = operation.out[0].dim[2 + i];
    shape.kernel[at] = operation.in[1].dim[2 + i];
    shape.stride[at] = conv.stride[i];
    shape.dilation[at] = conv.dilation[i];
    shape.pad[at] = conv.pad_begin[i];
  }
  return shape;
}

// Adds a plane as large as the input to where one tap of the filter sends it.
template <typename T>
void Scatter(const Shape& s, const Triple& tap, const T* from, T* to) {
  Triple shift;
  for (size_t i = 0; i < 3; ++i) shift[i] = tap[i] * s.dilation[i] - s.pad[i];
  for (int64_t d = 0; d < s.in[0]; ++d) {
    const int64_t z = d * s.stride[0] + shift[0];
    if (z < 0 || z >= s.out[0]) continue;
    for (int64_t h = 0; h < s.in[1]; ++h) {
      const int64_t y = h * s.stride[1] + shift[1];
      if (y < 0 || y >= s.out[1]) continue;
      const T* row = from + (d * s.in[1] + h) * s.in[2];
      T* out = to + (z * s.out[1] + y) * s.out[2];
      for (int64_t w = 0; w < s.in[2]; ++w) {
        const int64_t x = w * s.stride[2] + shift[2];
        if (x >= 0 && x < s.out[2]) out[x] += row[w];
      }
    }
  }
}

// For each filter: what all its taps make of all positions is one matrix product, whose rows are then scattered.
template <typename T>
void Run(const Shape& s, const Unary& then, const Buffers& b) {
  const T *x = static_cast<const T*>(b.in[0]), *w = static_cast<const T*>(b.in[1]);
  const T* bias = b.in.size() > 2 ? static_cast<const T*>(b.in[2]) : nullptr;
  T *y = static_cast<T*>(b.out[0]), *product = static_cast<T*>(b.scratch);
  const int64_t channels = s.c / s.group, filters = s.m / s.group, plane = s.in_plane(), taps = s.taps();
  for (int64_t each = 0; each < s.n * s.m; ++each) {
    const int64_t n = each / s.m, m = each % s.m, first = m / filters * channels;
    T* out = y + each * s.out_plane();
    std::fill(out, out + s.out_plane(), bias == nullptr ? T(0) : bias[m]);
    std::fill(product, product + taps * plane, T(0));
    const Matrix<T> filter{w + (first * filters + m % filters) * taps, 1, filters * taps};
    FastProduct(Product<T>{taps, plane, channels, filter, x + (n * s.c + first) * plane, plane, product, plane});
    const T* from = product;
    Triple tap;
    for (tap[0] = 0; tap[0] < s.kernel[0]; ++tap[0]) {
      for (tap[1] = 0; tap[1] < s.kernel[1]; ++tap[1]) {
        for (tap[2] = 0; tap[2] < s.kernel[2]; ++tap[2], from += plane) Scatter(s, tap, from, out);
      }
    }
    Apply(then, out, s.out_plane());
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeConvTranspose(const Operation& operation) {
  const Shape shape = ShapeOf(std::get<ConvTranspose>(operation.params), operation);
  const Unary then = std::get<ConvTranspose>(operation.params).then;
  const int64_t size = base::DTypeSize(operation.in[0].dtype);
  int64_t scratch = 0;
  if (__builtin_mul_overflow(shape.in_plane(), shape.taps(), &scratch) || scratch > (int64_t{4} << 30) / size)
    return base::Status(base::kOutOfRange, "what it computes on the way takes more than 4 GiB");
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [shape, then](const Buffers& b) -> const char* {
      Run<T>(shape, then, b);
      return nullptr;
    });
    kernel->scratch_bytes = scratch * size;
    return kernel;
  });
}

}  // namespace wf::kernels::ref
