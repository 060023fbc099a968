#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/windows.h"

namespace wf::kernels::ref {
namespace {

struct PoolWindows : Windows {
  PlaneAxes end;  // of padding
};

// The part of a window that lies on x: its first element and how many there are, by axis; and how many with the declared padding.
struct Place {
  PlaneAxes first, count;
  int64_t padded;
};

Place PlaceOf(const PoolWindows& s, const PlaneAxes& at) {
  Place place{{}, {}, 1};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t from = at[i] * s.stride[i] - s.pad[i], step = s.dilation[i];
    const auto before = [&](int64_t bound) { return std::clamp<int64_t>((bound - from + step - 1) / step, 0, s.kernel[i]); };
    const int64_t begin = from >= 0 ? 0 : std::min((-from + step - 1) / step, s.kernel[i]);
    place.first[i] = from + begin * step;
    place.count[i] = std::max<int64_t>((s.in[i] > from ? before(s.in[i]) : 0) - begin, 0);
    place.padded *= s.in[i] + s.end[i] > from ? before(s.in[i] + s.end[i]) : 0;
  }
  return place;
}

template <typename T, typename F>
void ForEachElement(const PoolWindows& s, const Place& place, const T* x, F f) {
  for (int64_t a = 0; a < place.count[0]; ++a) {
    for (int64_t b = 0; b < place.count[1]; ++b) {
      const int64_t d = place.first[0] + a * s.dilation[0], h = place.first[1] + b * s.dilation[1];
      int64_t at = (d * s.in[1] + h) * s.in[2] + place.first[2];
      for (int64_t c = 0; c < place.count[2]; ++c, at += s.dilation[2]) f(x[at]);
    }
  }
}

template <typename T>
void RunMax(const PoolWindows& s, const Buffers& buffers) {
  const T* x = static_cast<const T*>(buffers.in[0]);
  T* y = static_cast<T*>(buffers.out[0]);
  const int64_t size = s.in[0] * s.in[1] * s.in[2];
  Slide(s, [&](int64_t plane, const PlaneAxes& at, int64_t out) {
    const Place place = PlaceOf(s, at);
    T high = Least<T>();
    ForEachElement(s, place, x + plane * size, [&](T value) {
      if (value > high || IsNan(value)) high = IsNan(high) ? high : value;
    });
    y[out] = high;
  });
}

template <typename T>
void RunSum(const PoolWindows& s, const Pool& pool, const Buffers& buffers) {
  const T* x = static_cast<const T*>(buffers.in[0]);
  T* y = static_cast<T*>(buffers.out[0]);
  const int64_t size = s.in[0] * s.in[1] * s.in[2];
  const double power = static_cast<double>(pool.power);
  Slide(s, [&](int64_t plane, const PlaneAxes& at, int64_t out) {
    const Place place = PlaceOf(s, at);
    double sum = 0;
    if (pool.power > 0) {
      ForEachElement(s, place, x + plane * size, [&](T value) { sum += std::pow(std::abs(static_cast<double>(value)), power); });
      y[out] = static_cast<T>(std::pow(sum, 1 / power));
      return;
    }
    ForEachElement(s, place, x + plane * size, [&](T value) { sum += static_cast<double>(value); });
    const int64_t count = pool.count_padding ? place.padded : place.count[0] * place.count[1] * place.count[2];
    y[out] = static_cast<T>(sum / static_cast<double>(std::max<int64_t>(count, 1)));
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakePool(const Operation& operation) {
  const Pool& pool = std::get<Pool>(operation.params);
  const PoolWindows windows{WindowsOf(pool, operation), PlaneAxesOf(pool.pad_end, 0)};
  if (pool.mean || pool.power > 0) {
    return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
      return MakeFunction(1, [windows, pool](const Buffers& b) -> const char* {
        RunSum<T>(windows, pool, b);
        return nullptr;
      });
    });
  }
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        return MakeFunction(1, [windows](const Buffers& b) -> const char* {
          RunMax<T>(windows, b);
          return nullptr;
        });
      });
}

}  // namespace wf::kernels::ref
