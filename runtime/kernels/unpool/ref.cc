#include <algorithm>
#include <limits>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"
#include "runtime/kernels/windows.h"

namespace wf::kernels::ref {
namespace {

struct ArgWindows : Windows {
  PlaneAxes place;  // how far the elements along each axis lie apart, as places count
};

ArgWindows ArgWindowsOf(const ArgPool& pool, const Operation& operation) {
  ArgWindows windows{WindowsOf(pool, operation), {}};
  int64_t size = 1;
  for (size_t i = 0; i < 3; ++i) {
    const size_t axis = pool.column_major ? i : 2 - i;
    windows.place[axis] = size;
    size *= windows.in[axis];
  }
  return windows;
}

template <typename T>
struct Most {
  T value = Least<T>();
  int64_t place = -1;
};

template <typename T>
Most<T> FindMost(const ArgWindows& s, const T* x, const PlaneAxes& at) {
  Most<T> found;
  PlaneAxes k{}, p{};
  const auto inside = [&](size_t i) {
    p[i] = at[i] * s.stride[i] + k[i] * s.dilation[i] - s.pad[i];
    return p[i] >= 0 && p[i] < s.in[i];
  };
  for (k[0] = 0; k[0] < s.kernel[0]; ++k[0]) {
    if (!inside(0)) continue;
    for (k[1] = 0; k[1] < s.kernel[1]; ++k[1]) {
      if (!inside(1)) continue;
      for (k[2] = 0; k[2] < s.kernel[2]; ++k[2]) {
        if (!inside(2)) continue;
        const T value = x[(p[0] * s.in[1] + p[1]) * s.in[2] + p[2]];
        const bool above = value > found.value || (value != value && found.value == found.value);
        if (found.place >= 0 && !above) continue;
        found = {value, p[0] * s.place[0] + p[1] * s.place[1] + p[2] * s.place[2]};
      }
    }
  }
  return found;
}

template <typename T>
void SlideArg(const ArgWindows& s, const T* x, T* y, int64_t* places) {
  const int64_t elements = s.in[0] * s.in[1] * s.in[2];
  Slide(s, [&](int64_t plane, const PlaneAxes& at, int64_t out) {
    const Most<T> found = FindMost(s, x + plane * elements, at);
    y[out] = found.value;
    if (places != nullptr) places[out] = found.place < 0 ? -1 : plane * elements + found.place;
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeArgPool(const Operation& operation) {
  const ArgWindows windows = ArgWindowsOf(std::get<ArgPool>(operation.params), operation);
  return ForType<float, double, int8_t, uint8_t>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [windows](const Buffers& b) -> const char* {
      SlideArg<T>(windows, static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]),
                  b.out.size() > 1 ? static_cast<int64_t*>(b.out[1]) : nullptr);
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeUnpool(const Operation& operation) {
  const std::vector<int64_t>& out = operation.out[0].dim;
  std::vector<int64_t> from = {operation.in[0].dim[0], operation.in[0].dim[1]};
  const auto& plane = std::get<Unpool>(operation.params).plane;
  from.insert(from.end(), plane.begin(), plane.end());
  const std::vector<int64_t> stride = StridesOf(out), place = StridesOf(from);
  const int64_t count = operation.in[0].count(), total = operation.out[0].count(), places = CountOf(from);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(2, [=](const Buffers& b) -> const char* {
      const T* x = static_cast<const T*>(b.in[0]);
      const int64_t* at = static_cast<const int64_t*>(b.in[1]);
      T* y = static_cast<T*>(b.out[0]);
      std::fill_n(y, total, T(0));
      for (int64_t i = 0; i < count; ++i) {
        if (at[i] < 0 || at[i] >= places) return "an index is out of range";
        int64_t rest = at[i], to = 0;
        for (size_t axis = 0; axis < place.size(); ++axis) {
          const int64_t along = rest / place[axis];
          if (along >= out[axis]) return "an index is out of range";
          to += along * stride[axis];
          rest %= place[axis];
        }
        y[to] = x[i];
      }
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
