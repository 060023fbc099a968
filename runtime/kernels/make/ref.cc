#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

template <typename T>
std::unique_ptr<Kernel> MakeFilled(int64_t count, const std::array<uint8_t, 8>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return MakeFunction(0, [count, value](const Buffers& b) -> const char* {
    std::fill_n(static_cast<T*>(b.out[0]), count, value);
    return nullptr;
  });
}

uint16_t OneOfHalf(uint8_t dtype) { return dtype == WF_F16 ? 0x3c00 : 0x3f80; }

template <typename T>
std::unique_ptr<Kernel> MakeEyeOf(const TensorInfo& out, int64_t k, T one) {
  return MakeFunction(0, [rows = out.dim[0], columns = out.dim[1], k, one](const Buffers& b) -> const char* {
    T* to = static_cast<T*>(b.out[0]);
    std::fill_n(to, rows * columns, T(0));
    for (int64_t row = std::max<int64_t>(0, -k); row < rows && row + k < columns; ++row) to[row * columns + row + k] = one;
    return nullptr;
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeFill(const Operation& operation) {
  const auto& value = std::get<Fill>(operation.params).value;
  const int64_t count = operation.out[0].count();
  switch (base::DTypeSize(operation.out[0].dtype)) {
    case 1:
      return MakeFilled<uint8_t>(count, value);
    case 2:
      return MakeFilled<uint16_t>(count, value);
    case 4:
      return MakeFilled<uint32_t>(count, value);
    case 8:
      return MakeFilled<uint64_t>(count, value);
    default:
      return std::unique_ptr<Kernel>();
  }
}

base::Result<std::unique_ptr<Kernel>> MakeRange(const Operation& operation) {
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.out[0].dtype, [&]<typename T>() {
        return MakeFunction(operation.in.size(), [count = operation.out[0].count()](const Buffers& b) -> const char* {
          using Wide = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
          const Wide start = static_cast<Wide>(*static_cast<const T*>(b.in[0])), delta = static_cast<Wide>(*static_cast<const T*>(b.in[2]));
          T* out = static_cast<T*>(b.out[0]);
          for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(start + static_cast<Wide>(i) * delta);
          return nullptr;
        });
      });
}

base::Result<std::unique_ptr<Kernel>> MakeEye(const Operation& operation) {
  const TensorInfo& out = operation.out[0];
  const int64_t k = std::get<Eye>(operation.params).k;
  if (out.dtype == WF_F16 || out.dtype == WF_BF16) return MakeEyeOf<uint16_t>(out, k, OneOfHalf(out.dtype));
  return ForType<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      out.dtype, [&]<typename T>() { return MakeEyeOf<T>(out, k, T(1)); });
}

}  // namespace wf::kernels::ref
