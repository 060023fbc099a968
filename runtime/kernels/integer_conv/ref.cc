#include <algorithm>

#include "runtime/kernels/conv/planes.h"
#include "runtime/kernels/integer_matmul/requantise.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

using In = IntegerInputs;

template <typename T>
const T* At(const Buffers& buffers, size_t i) {
  return i < buffers.in.size() ? static_cast<const T*>(buffers.in[i]) : nullptr;
}

// Which parameters there is one of for each filter.
struct PerFilter {
  bool scale, zero;
};

struct Zeros {
  int32_t x, w;
};

template <typename X, typename W>
void Filter(const ConvShape& s, const X* x, const W* w, Zeros zeros, int32_t* sums) {
  const auto add = [=](int32_t sum, W weight, X value) { return AddProduct(sum, int32_t{weight} - zeros.w, int32_t{value} - zeros.x); };
  for (int64_t c = 0; c < s.c / s.group; ++c) AddPlane(s, x + c * s.in_plane(), w + c * s.taps(), sums, add);
}

template <typename X, typename W, typename Y>
void Run(const ConvShape& s, const PerFilter& per_filter, const Within& within, const Buffers& buffers) {
  const X *x = At<X>(buffers, In::kA), *x_zero = At<X>(buffers, In::kAZero);
  const W *w = At<W>(buffers, In::kB), *w_zero = At<W>(buffers, In::kBZero);
  const float *x_scale = At<float>(buffers, In::kAScale), *w_scale = At<float>(buffers, In::kBScale);
  const float* y_scale = At<float>(buffers, In::kYScale);
  const int32_t* bias = At<int32_t>(buffers, In::kBias);
  const int64_t channels = s.c / s.group, filters = s.m / s.group;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t m = 0; m < s.m; ++m) {
      Y* plane = static_cast<Y*>(buffers.out[0]) + (n * s.m + m) * s.out_plane();
      int32_t* sums = static_cast<int32_t*>(buffers.scratch);
      if constexpr (std::is_same_v<Y, int32_t>) sums = plane;
      std::fill(sums, sums + s.out_plane(), bias == nullptr ? 0 : bias[m]);
      const Zeros zeros{ValueAt<X>(x_zero, false, 0, 0), ValueAt<W>(w_zero, per_filter.zero, m, 0)};
      Filter(s, x + (n * s.c + m / filters * channels) * s.in_plane(), w + m * channels * s.taps(), zeros, sums);
      if constexpr (!std::is_same_v<Y, int32_t>) {
        const float factor = *x_scale * w_scale[per_filter.scale ? m : 0];
        const Target<Y> target{*y_scale, ValueAt(At<Y>(buffers, In::kYZero), false, 0, Y(0)), within};
        for (int64_t i = 0; i < s.out_plane(); ++i) plane[i] = Requantised(sums[i], factor, target);
      }
    }
  }
}

bool IsMany(const Operation& operation, size_t i) { return HasInput(operation, i) && operation.in[i].count() > 1; }

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeIntegerConv(const Operation& operation) {
  const IntegerConv& conv = std::get<IntegerConv>(operation.params);
  const ConvShape shape = ConvShapeOf(conv, operation.in[In::kA], operation.in[In::kB], operation.out[0]);
  const PerFilter per_filter{IsMany(operation, In::kBScale), IsMany(operation, In::kBZero)};
  auto kernel = ForType<int8_t, uint8_t>(operation.in[In::kA].dtype, [&]<typename X>() {
    return ForType<int8_t, uint8_t>(operation.in[In::kB].dtype, [&]<typename W>() {
      return ForType<int8_t, uint8_t, int32_t>(operation.out[0].dtype, [&]<typename Y>() {
        return MakeFunction(operation.in.size(), [shape, per_filter, within = conv.within](const Buffers& buffers) -> const char* {
          Run<X, W, Y>(shape, per_filter, within, buffers);
          return nullptr;
        });
      });
    });
  });
  if (kernel != nullptr && operation.out[0].dtype != WF_I32) kernel->scratch_bytes = shape.out_plane() * int64_t{sizeof(int32_t)};
  return kernel;
}

}  // namespace wf::kernels::ref
