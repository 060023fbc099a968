#include <algorithm>

#include "runtime/kernels/conv/planes.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename T>
void Run(const ConvShape& s, const Unary& then, const Buffers& buffers) {
  const T *x = static_cast<const T*>(buffers.in[0]), *w = static_cast<const T*>(buffers.in[1]);
  const T* bias = buffers.in.size() > 2 ? static_cast<const T*>(buffers.in[2]) : nullptr;
  const T* addend = buffers.in.size() > 3 ? static_cast<const T*>(buffers.in[3]) : nullptr;
  T* y = static_cast<T*>(buffers.out[0]);
  const int64_t out_plane = s.out_plane();
  const int64_t channels = s.c / s.group, filters = s.m / s.group;
  const auto add = [](T sum, T weight, T value) { return sum + weight * value; };
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t m = 0; m < s.m; ++m) {
      T* plane = y + (n * s.m + m) * out_plane;
      std::fill(plane, plane + out_plane, bias == nullptr ? T(0) : bias[m]);
      const T* first = x + (n * s.c + m / filters * channels) * s.in_plane();
      for (int64_t c = 0; c < channels; ++c) AddPlane(s, first + c * s.in_plane(), w + (m * channels + c) * s.taps(), plane, add);
      for (int64_t i = 0; addend != nullptr && i < out_plane; ++i) plane[i] += addend[(n * s.m + m) * out_plane + i];
      Apply(then, plane, out_plane);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeConv(const Operation& operation) {
  const Conv& conv = std::get<Conv>(operation.params);
  const ConvShape shape = ConvShapeOf(conv, operation.in[0], operation.in[1], operation.out[0]);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(operation.in.size(), [shape, then = conv.then](const Buffers& b) -> const char* {
      Run<T>(shape, then, b);
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
