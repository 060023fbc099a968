#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

struct Windows {
  int64_t planes;
  std::array<int64_t, 3> in, out, kernel, stride, dilation, pad, end;
};

Windows WindowsOf(const Pool& pool, const Operation& operation) {
  Windows windows{
      operation.in[0].dim[0] * operation.in[0].dim[1], {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  const size_t spatial = operation.in[0].dim.size() - 2;
  for (size_t i = 0; i < spatial; ++i) {
    const size_t at = 3 - spatial + i;
    windows.in[at] = operation.in[0].dim[2 + i];
    windows.out[at] = operation.out[0].dim[2 + i];
    windows.kernel[at] = pool.kernel[i];
    windows.stride[at] = pool.stride[i];
    windows.dilation[at] = pool.dilation[i];
    windows.pad[at] = pool.pad_begin[i];
    windows.end[at] = pool.pad_end[i];
  }
  return windows;
}

// What the window at one output position sees.
template <typename T>
struct Seen {
  T max = std::numeric_limits<T>::lowest();
  double sum = 0;
  int64_t inside = 0, padded = 0;  // elements of x; and with those of the declared padding
};

template <typename T>
Seen<T> Look(const Windows& s, const T* x, const std::array<int64_t, 3>& at) {
  Seen<T> seen;
  std::array<int64_t, 3> k;
  for (k[0] = 0; k[0] < s.kernel[0]; ++k[0]) {
    for (k[1] = 0; k[1] < s.kernel[1]; ++k[1]) {
      for (k[2] = 0; k[2] < s.kernel[2]; ++k[2]) {
        bool inside = true, padded = true;
        std::array<int64_t, 3> p;
        for (size_t i = 0; i < 3; ++i) {
          p[i] = at[i] * s.stride[i] + k[i] * s.dilation[i] - s.pad[i];
          inside = inside && p[i] >= 0 && p[i] < s.in[i];
          padded = padded && p[i] < s.in[i] + s.end[i];
        }
        seen.padded += padded ? 1 : 0;
        if (!inside) continue;
        const T value = x[(p[0] * s.in[1] + p[1]) * s.in[2] + p[2]];
        seen.max = value > seen.max || std::isnan(value) ? value : seen.max;
        seen.sum += value;
        ++seen.inside;
      }
    }
  }
  return seen;
}

template <typename T>
void Slide(const Windows& s, bool mean, bool count_padding, const T* x, T* y) {
  for (int64_t plane = 0; plane < s.planes; ++plane, x += s.in[0] * s.in[1] * s.in[2]) {
    std::array<int64_t, 3> at;
    for (at[0] = 0; at[0] < s.out[0]; ++at[0]) {
      for (at[1] = 0; at[1] < s.out[1]; ++at[1]) {
        for (at[2] = 0; at[2] < s.out[2]; ++at[2]) {
          const Seen<T> seen = Look(s, x, at);
          const int64_t count = std::max<int64_t>(count_padding ? seen.padded : seen.inside, 1);
          *y++ = mean ? static_cast<T>(seen.sum / static_cast<double>(count)) : seen.max;
        }
      }
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakePool(const Operation& operation) {
  const Pool& pool = std::get<Pool>(operation.params);
  const Windows windows = WindowsOf(pool, operation);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [windows, mean = pool.mean, count = pool.count_padding](const Buffers& b) -> const char* {
      Slide<T>(windows, mean, count, static_cast<const T*>(b.in[0]), static_cast<T*>(b.out[0]));
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
