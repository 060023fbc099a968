#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {
namespace {

constexpr size_t kSampledAxes = 3, kTapsPerAxis = 4;

// Into [low, high] by mirrors at both.
float Reflected(float x, float low, float high) {
  const float range = high - low;
  if (!(range > 0) || !std::isfinite(x)) return low;
  const float away = x < low ? low - x : x > high ? x - high : 0;
  if (away == 0) return x;
  const float turns = std::floor(away / range), rest = away - turns * range;
  const bool from_low = (x < low) == (std::fmod(turns, 2.0f) == 0);
  return from_low ? low + rest : high - rest;
}

struct Sampler {
  GridSample grid;
  size_t axes;
  std::array<int64_t, kSampledAxes> extent, stride;

  float Low() const { return grid.align_corners ? 0.0f : -0.5f; }
  float High(size_t axis) const { return static_cast<float>(extent[axis]) - (grid.align_corners ? 1.0f : 0.5f); }

  // From -1..1 to elements.
  float Place(size_t axis, float at) const {
    const float length = static_cast<float>(extent[axis]);
    float x = grid.align_corners ? (at + 1) / 2 * (length - 1) : ((at + 1) * length - 1) / 2;
    if (grid.mode == GridSample::Mode::kNearest) x = std::nearbyint(x);
    if (x >= Low() && x <= High(axis)) return x;
    if (grid.padding == GridSample::Padding::kBorder) return std::isnan(x) ? 0 : std::clamp(x, 0.0f, length - 1);
    if (grid.padding == GridSample::Padding::kReflection) return Reflected(x, Low(), High(axis));
    return std::clamp(std::isnan(x) ? -9.0f : x, -9.0f, length + 9);
  }

  // The element at an index that may lie outside; -1: none.
  int64_t Inside(size_t axis, int64_t index) const {
    if (index >= 0 && index < extent[axis]) return index;
    if (grid.padding == GridSample::Padding::kZeros) return -1;
    if (grid.padding == GridSample::Padding::kReflection) {
      index = static_cast<int64_t>(Reflected(static_cast<float>(index), Low(), High(axis)));
    }
    return std::clamp<int64_t>(index, 0, extent[axis] - 1);
  }
};

// Elements that one point is made of.
struct Point {
  std::array<int64_t, kTapsPerAxis * kTapsPerAxis * kTapsPerAxis> offset;
  std::array<float, kTapsPerAxis * kTapsPerAxis * kTapsPerAxis> weight;
  size_t count;
};

void CubicWeights(float x, float* weight) {
  constexpr float kA = -0.75f;
  const auto near = [](float t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; };
  const auto far = [](float t) { return ((kA * t - 5 * kA) * t + 8 * kA) * t - 4 * kA; };
  weight[0] = far(x + 1);
  weight[1] = near(x);
  weight[2] = near(1 - x);
  weight[3] = far(2 - x);
}

// The elements along one axis; gives how many.
size_t AxisTaps(const Sampler& sampler, size_t axis, float x, int64_t* index, float* weight) {
  const float base = std::floor(x);
  const int64_t first = static_cast<int64_t>(base);
  switch (sampler.grid.mode) {
    case GridSample::Mode::kNearest:
      index[0] = sampler.Inside(axis, first);
      weight[0] = 1;
      return 1;
    case GridSample::Mode::kLinear:
      for (int64_t i = 0; i < 2; ++i) index[i] = sampler.Inside(axis, first + i);
      weight[0] = 1 - (x - base);
      weight[1] = x - base;
      return 2;
    case GridSample::Mode::kCubic:
      for (int64_t i = 0; i < 4; ++i) index[i] = sampler.Inside(axis, first - 1 + i);
      CubicWeights(x - base, weight);
      return 4;
  }
  return 0;
}

// `at`: coordinates, those of the last axis first.
template <typename G>
void LocatePoint(const Sampler& sampler, const G* at, Point& point) {
  point.count = 1;
  point.offset[0] = 0;
  point.weight[0] = 1;
  for (size_t axis = 0; axis < sampler.axes; ++axis) {
    int64_t index[kTapsPerAxis];
    float weight[kTapsPerAxis];
    const size_t taps = AxisTaps(sampler, axis, sampler.Place(axis, static_cast<float>(at[sampler.axes - 1 - axis])), index, weight);
    Point next;
    next.count = 0;
    for (size_t p = 0; p < point.count; ++p) {
      for (size_t t = 0; t < taps; ++t) {
        if (index[t] < 0) continue;
        next.offset[next.count] = point.offset[p] + index[t] * sampler.stride[axis];
        next.weight[next.count++] = point.weight[p] * weight[t];
      }
    }
    std::copy_n(next.offset.begin(), next.count, point.offset.begin());
    std::copy_n(next.weight.begin(), next.count, point.weight.begin());
    point.count = next.count;
  }
}

template <typename T>
T Sampled(const Point& point, bool nearest, const T* x) {
  if (nearest) return point.count > 0 ? x[point.offset[0]] : T(0);
  double sum = 0;
  for (size_t i = 0; i < point.count; ++i) sum += static_cast<double>(point.weight[i]) * static_cast<double>(x[point.offset[i]]);
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(sum);
  return Saturated<T>(sum);
}

struct PlaneSizes {
  int64_t images, channels, in, out;  // elements of a plane
};

template <typename T, typename G>
std::unique_ptr<Kernel> MakeSampler(const Sampler& sampler, const PlaneSizes& sizes) {
  return MakeFunction(2, [sampler, sizes](const Buffers& b) -> const char* {
    const bool nearest = sampler.grid.mode == GridSample::Mode::kNearest;
    const G* grid = static_cast<const G*>(b.in[1]);
    Point point;
    for (int64_t n = 0; n < sizes.images; ++n) {
      const T* x = static_cast<const T*>(b.in[0]) + n * sizes.channels * sizes.in;
      T* y = static_cast<T*>(b.out[0]) + n * sizes.channels * sizes.out;
      for (int64_t i = 0; i < sizes.out; ++i, grid += sampler.axes) {
        LocatePoint(sampler, grid, point);
        for (int64_t c = 0; c < sizes.channels; ++c) y[c * sizes.out + i] = Sampled(point, nearest, x + c * sizes.in);
      }
    }
    return nullptr;
  });
}

template <typename T>
void WriteGrid(const AffineGrid& affine, std::span<const int64_t> extent, const T* theta, T* out) {
  const size_t axes = extent.size();
  const int64_t points = CountOf(extent);
  for (int64_t i = 0; i < points; ++i) {
    std::array<double, kSampledAxes + 1> at{};  // x first, then 1
    int64_t rest = i;
    for (size_t axis = axes; axis-- > 0;) {
      const double place = static_cast<double>(rest % extent[axis]), length = static_cast<double>(extent[axis]);
      rest /= extent[axis];
      at[axes - 1 - axis] = affine.align_corners ? (extent[axis] > 1 ? 2 * place / (length - 1) - 1 : 0) : (2 * place + 1) / length - 1;
    }
    at[axes] = 1;
    for (size_t row = 0; row < axes; ++row) {
      double sum = 0;
      for (size_t k = 0; k <= axes; ++k) sum += static_cast<double>(theta[row * (axes + 1) + k]) * at[k];
      *out++ = static_cast<T>(sum);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeGridSample(const Operation& operation) {
  const std::vector<int64_t>&x = operation.in[0].dim, &out = operation.out[0].dim;
  Sampler sampler{std::get<GridSample>(operation.params), x.size() - 2, {}, {}};
  if (sampler.axes > kSampledAxes) return std::unique_ptr<Kernel>();
  const std::vector<int64_t> stride = StridesOf(std::span(x).subspan(2));
  std::copy(x.begin() + 2, x.end(), sampler.extent.begin());
  std::copy(stride.begin(), stride.end(), sampler.stride.begin());
  const PlaneSizes sizes{x[0], x[1], CountOf(std::span(x).subspan(2)), CountOf(std::span(out).subspan(2))};
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        return ForType<float, double>(operation.in[1].dtype, [&]<typename G>() { return MakeSampler<T, G>(sampler, sizes); });
      });
}

base::Result<std::unique_ptr<Kernel>> MakeAffineGrid(const Operation& operation) {
  const std::vector<int64_t>& out = operation.out[0].dim;
  const std::vector<int64_t> extent(out.begin() + 1, out.end() - 1);
  const AffineGrid affine = std::get<AffineGrid>(operation.params);
  if (extent.size() > kSampledAxes) return std::unique_ptr<Kernel>();
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [affine, extent, images = out[0]](const Buffers& b) -> const char* {
      const int64_t axes = static_cast<int64_t>(extent.size()), each = CountOf(extent) * axes;
      for (int64_t n = 0; n < images; ++n) {
        WriteGrid<T>(affine, extent, static_cast<const T*>(b.in[0]) + n * axes * (axes + 1), static_cast<T*>(b.out[0]) + n * each);
      }
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
