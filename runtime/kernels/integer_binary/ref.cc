#include <algorithm>

#include "runtime/kernels/broadcast.h"
#include "runtime/kernels/quantise/round.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

using In = IntegerBinaryInputs;

template <typename T>
T ZeroAt(const Buffers& b, size_t i) {
  return i < b.in.size() && b.in[i] != nullptr ? *static_cast<const T*>(b.in[i]) : T(0);
}

template <typename T>
float Number(T x, T zero, float scale) {
  return static_cast<float>(int32_t{x} - int32_t{zero}) * scale;
}

template <typename T>
void Run(const Broadcast<2>& walk, const IntegerBinary& binary, const Buffers& buffers) {
  const T *a = static_cast<const T*>(buffers.in[In::kA]), *b = static_cast<const T*>(buffers.in[In::kB]);
  T* y = static_cast<T*>(buffers.out[0]);
  const auto scale = [&](size_t i) { return *static_cast<const float*>(buffers.in[i]); };
  const float a_scale = scale(In::kAScale), b_scale = scale(In::kBScale), y_scale = scale(In::kYScale);
  const T a_zero = ZeroAt<T>(buffers, In::kAZero), b_zero = ZeroAt<T>(buffers, In::kBZero), y_zero = ZeroAt<T>(buffers, In::kYZero);
  walk.ForEach([&](int64_t out, const auto& offset, const auto& stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const float left = Number(a[offset[0] + i * stride[0]], a_zero, a_scale),
                  right = Number(b[offset[1] + i * stride[1]], b_zero, b_scale);
      const float both = binary.op == IntegerBinary::Op::kAdd ? left + right : left * right;
      y[out + i] = Rounded<T>(std::clamp(both, binary.within.low, binary.within.high) / y_scale, y_zero);
    }
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeIntegerBinary(const Operation& operation) {
  const IntegerBinary binary = std::get<IntegerBinary>(operation.params);
  for (const size_t i : {In::kAScale, In::kBScale, In::kYScale}) {
    if (operation.in[i].dtype != WF_F32) return std::unique_ptr<Kernel>();
  }
  const Broadcast<2> walk(operation.out[0].dim, {operation.in[In::kA].dim, operation.in[In::kB].dim});
  return ForType<int8_t, uint8_t>(operation.in[In::kA].dtype, [&]<typename T>() {
    return MakeFunction(operation.in.size(), [walk, binary](const Buffers& buffers) -> const char* {
      Run<T>(walk, binary, buffers);
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
