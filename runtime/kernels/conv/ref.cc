#include <algorithm>
#include <array>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// Shapes with three spatial axes, leading ones filled with 1.
struct Shape {
  int64_t n, c, m, group;
  std::array<int64_t, 3> in, out, kernel, stride, dilation, pad;
};

Shape ShapeOf(const Conv& conv, const Operation& operation) {
  Shape shape{operation.in[0].dim[0],
              operation.in[0].dim[1],
              operation.in[1].dim[0],
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

// Adds one filter plane over one input plane to one output plane.
template <typename T>
void AddPlane(const Shape& s, const T* x, const T* w, T* y) {
  for (int64_t kd = 0; kd < s.kernel[0]; ++kd) {
    for (int64_t kh = 0; kh < s.kernel[1]; ++kh) {
      for (int64_t kw = 0; kw < s.kernel[2]; ++kw, ++w) {
        for (int64_t d = 0; d < s.out[0]; ++d) {
          const int64_t z = d * s.stride[0] + kd * s.dilation[0] - s.pad[0];
          if (z < 0 || z >= s.in[0]) continue;
          for (int64_t h = 0; h < s.out[1]; ++h) {
            const int64_t v = h * s.stride[1] + kh * s.dilation[1] - s.pad[1];
            if (v < 0 || v >= s.in[1]) continue;
            const T* row = x + (z * s.in[1] + v) * s.in[2];
            T* out = y + (d * s.out[1] + h) * s.out[2];
            const int64_t shift = kw * s.dilation[2] - s.pad[2];
            for (int64_t k = 0; k < s.out[2]; ++k) {
              const int64_t u = k * s.stride[2] + shift;
              if (u >= 0 && u < s.in[2]) out[k] += *w * row[u];
            }
          }
        }
      }
    }
  }
}

template <typename T>
void Run(const Shape& s, const Unary& then, const Buffers& buffers) {
  const T *x = static_cast<const T*>(buffers.in[0]), *w = static_cast<const T*>(buffers.in[1]);
  const T* bias = buffers.in.size() > 2 ? static_cast<const T*>(buffers.in[2]) : nullptr;
  T* y = static_cast<T*>(buffers.out[0]);
  const int64_t in_plane = s.in[0] * s.in[1] * s.in[2], out_plane = s.out[0] * s.out[1] * s.out[2],
                taps = s.kernel[0] * s.kernel[1] * s.kernel[2];
  const int64_t channels = s.c / s.group, filters = s.m / s.group;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t m = 0; m < s.m; ++m) {
      T* plane = y + (n * s.m + m) * out_plane;
      std::fill(plane, plane + out_plane, bias == nullptr ? T(0) : bias[m]);
      const T* first = x + (n * s.c + m / filters * channels) * in_plane;
      for (int64_t c = 0; c < channels; ++c) AddPlane(s, first + c * in_plane, w + (m * channels + c) * taps, plane);
      Apply(then, plane, out_plane);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeConv(const Operation& operation) {
  const Conv& conv = std::get<Conv>(operation.params);
  const Shape shape = ShapeOf(conv, operation);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(operation.in.size(), [shape, then = conv.then](const Buffers& b) -> const char* {
      Run<T>(shape, then, b);
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
