#include "runtime/kernels/resize/taps.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wf::kernels::ref {
namespace {

constexpr int64_t kMostTaps = int64_t{1} << 24;  // 16 bytes each

// Coordinate in the input of position x of the output.
template <typename T>
T OriginOf(const Resize& resize, size_t axis, int64_t in, int64_t out, int64_t position) {
  using enum Resize::From;
  constexpr T half = 0.5;
  const T scale = static_cast<T>(resize.scale[axis]), x = static_cast<T>(position), length = static_cast<T>(in), scaled = scale * length;
  switch (resize.from) {
    case kHalfPixel:
      return (x + half) / scale - half;
    case kHalfPixelSymmetric: {
      const T adjusted = static_cast<T>(out) / scaled;
      return length / 2 * (1 - adjusted) + (x + half) / scale - half;
    }
    case kHalfPixelOrFirst:
      return out > 1 ? (x + half) / scale - half : 0;
    case kAlignCorners:
      return scaled == 1 || out == 1 ? 0 : x * (length - 1) / (scaled - 1);
    case kAsymmetric:
      return x / scale;
    case kCrop: {
      const T begin = static_cast<T>(resize.region_begin[axis]), end = static_cast<T>(resize.region_end[axis]);
      const T along = scaled == 1 || out == 1 ? (end - begin) * (length - 1) / 2 : x * (end - begin) * (length - 1) / (scaled - 1);
      return begin * (length - 1) + along;
    }
    case kHalfPixelUnshifted:
      return (x + half) / scale;
  }
  return 0;
}

double RoundedBy(Resize::Rounding rounding, double x) {
  switch (rounding) {
    case Resize::Rounding::kPreferFloor:
      return std::ceil(x - 0.5);
    case Resize::Rounding::kPreferCeil:
      return std::floor(x + 0.5);
    case Resize::Rounding::kFloor:
      return std::floor(x);
    case Resize::Rounding::kCeil:
      return std::ceil(x);
  }
  return x;
}

double LinearFilter(double x) { return std::max(0.0, 1 - std::abs(x)); }
double CubicFilter(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The filter around a coordinate: `reach` elements to either side, stretched by 1 / scale.
struct Filter {
  bool cubic;
  double a, scale;
  int64_t reach;

  double At(double distance) const { return cubic ? CubicFilter(distance * scale, a) : LinearFilter(distance * scale); }
};

Filter FilterOf(const Resize& resize, size_t axis) {
  const bool cubic = resize.mode == Resize::Mode::kCubic;
  const double scale = resize.antialias ? std::min(resize.scale[axis], 1.0) : 1;
  return {cubic, resize.cubic_a, scale, static_cast<int64_t>(std::min(std::ceil((cubic ? 2 : 1) / scale), 1e9))};
}

void Weigh(const Filter& filter, const Resize& resize, double x, int64_t in, std::pair<int64_t*, double*> to) {
  const auto& [index, weight] = to;
  const double base = std::floor(x);
  double sum = 0;
  for (int64_t i = 0; i < 2 * filter.reach; ++i) {
    const double at = base - static_cast<double>(filter.reach - 1) + static_cast<double>(i);
    const bool outside = at < 0 || at > static_cast<double>(in - 1);
    weight[i] = outside && resize.exclude_outside ? 0 : filter.At(at - x);
    index[i] = static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(in - 1)));
    sum += weight[i];
  }
  if ((!resize.exclude_outside && !resize.antialias) || sum == 0) return;
  for (int64_t i = 0; i < 2 * filter.reach; ++i) weight[i] /= sum;
}

}  // namespace

std::optional<Taps> TapsOf(const Resize& resize, size_t axis, int64_t in, int64_t out) {
  const bool nearest = resize.mode == Resize::Mode::kNearest;
  const Filter filter = FilterOf(resize, axis);
  Taps taps;
  taps.count = nearest ? 1 : 2 * filter.reach;
  if (out > kMostTaps / taps.count) return std::nullopt;
  taps.index.resize(static_cast<size_t>(out * taps.count));
  taps.weight.resize(nearest ? 0 : taps.index.size());
  for (int64_t i = 0; i < out; ++i) {
    // Which element is the nearest turns on the last bit where a coordinate is whole: as ONNX and its runtime have it, in f32.
    const double last = static_cast<double>(in - 1);
    const double x = nearest ? static_cast<double>(OriginOf<float>(resize, axis, in, out, i)) : OriginOf<double>(resize, axis, in, out, i);
    int64_t* index = taps.index.data() + i * taps.count;
    if (resize.from == Resize::From::kCrop && !(x >= 0 && x <= last)) {
      std::fill_n(index, taps.count, -1);
    } else if (nearest) {
      *index = static_cast<int64_t>(std::clamp(RoundedBy(resize.rounding, x), 0.0, last));
    } else {
      Weigh(filter, resize, x, in, {index, taps.weight.data() + i * taps.count});
    }
  }
  return taps;
}

}  // namespace wf::kernels::ref
