#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

constexpr double kMostImages = 8;  // times the extent of an image that a region may be long: each sample of it takes time

struct Cells {
  RoiAlign roi;
  int64_t images, channels, height, width, rows, columns;
};

// A region along one axis.
struct CellSpan {
  double begin, cell;
  int64_t samples;
  double At(int64_t at, int64_t sample) const {
    return begin + static_cast<double>(at) * cell + (static_cast<double>(sample) + 0.5) * cell / static_cast<double>(samples);
  }
};

// Of an image `extent` long, parted into `cells`.
struct AxisCells {
  int64_t extent, cells;
};

bool CellSpanOf(const RoiAlign& roi, double from, double to, const AxisCells& axis, CellSpan& span) {
  const auto& [extent, cells] = axis;
  const double offset = roi.half_pixel ? 0.5 : 0, scale = static_cast<double>(roi.scale);
  span.begin = from * scale - offset;
  double length = to * scale - offset - span.begin;
  if (!roi.half_pixel) length = std::max(length, 1.0);
  if (!(std::abs(length) <= kMostImages * static_cast<double>(extent + 2) * static_cast<double>(cells))) return false;
  span.cell = length / static_cast<double>(cells);
  span.samples = roi.samples > 0 ? roi.samples : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(span.cell)));
  return true;
}

// Where a sample lies between two elements of an axis.
struct Between {
  int64_t low = 0, high = 0;
  double part = 0;  // of high
  bool inside = false;
};
Between Neighbours(double at, int64_t extent) {
  Between between;
  between.inside = at >= -1 && at <= static_cast<double>(extent) && extent > 0;
  if (!between.inside) return between;
  at = std::max(at, 0.0);
  between.low = std::min(static_cast<int64_t>(at), extent - 1);
  between.high = std::min(between.low + 1, extent - 1);
  between.part = between.low < extent - 1 ? at - static_cast<double>(between.low) : 0;
  return between;
}

struct CellPlace {
  int64_t row, column;
};

// One cell of one channel: the mean of its samples, or the largest of their weighted elements.
template <typename T>
T CellOf(const Cells& cells, const CellSpan& y, const CellSpan& x, const CellPlace& place, const T* plane) {
  const auto& [row, column] = place;
  double sum = 0, most = 0;
  bool any = false;
  for (int64_t i = 0; i < y.samples; ++i) {
    const Between v = Neighbours(y.At(row, i), cells.height);
    for (int64_t k = 0; k < x.samples; ++k) {
      const Between h = Neighbours(x.At(column, k), cells.width);
      double part[4] = {0, 0, 0, 0};
      if (v.inside && h.inside) {
        const T *low = plane + v.low * cells.width, *high = plane + v.high * cells.width;
        part[0] = (1 - v.part) * (1 - h.part) * static_cast<double>(low[h.low]);
        part[1] = (1 - v.part) * h.part * static_cast<double>(low[h.high]);
        part[2] = v.part * (1 - h.part) * static_cast<double>(high[h.low]);
        part[3] = v.part * h.part * static_cast<double>(high[h.high]);
      }
      sum += part[0] + part[1] + part[2] + part[3];
      const double largest = *std::max_element(part, part + 4);
      most = any ? std::max(most, largest) : largest;
      any = true;
    }
  }
  return static_cast<T>(cells.roi.largest ? most : sum / static_cast<double>(std::max<int64_t>(y.samples * x.samples, 1)));
}

template <typename T>
const char* RunRegion(const Cells& cells, const T* images, const T* region, int64_t image, T* out) {
  if (image < 0 || image >= cells.images) return "an index is out of range";
  CellSpan x, y;
  const bool fits =
      CellSpanOf(cells.roi, static_cast<double>(region[0]), static_cast<double>(region[2]), {cells.width, cells.columns}, x) &&
      CellSpanOf(cells.roi, static_cast<double>(region[1]), static_cast<double>(region[3]), {cells.height, cells.rows}, y);
  if (!fits) return "a region is much larger than its image";
  for (int64_t c = 0; c < cells.channels; ++c) {
    const T* plane = images + (image * cells.channels + c) * cells.height * cells.width;
    for (int64_t row = 0; row < cells.rows; ++row) {
      for (int64_t column = 0; column < cells.columns; ++column) *out++ = CellOf<T>(cells, y, x, {row, column}, plane);
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeRoiAlign(const Operation& operation) {
  const std::vector<int64_t>&x = operation.in[0].dim, &out = operation.out[0].dim;
  const Cells cells{std::get<RoiAlign>(operation.params), x[0], x[1], x[2], x[3], out[2], out[3]};
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(3, [cells, regions = out[0]](const Buffers& b) -> const char* {
      for (int64_t r = 0; r < regions; ++r) {
        const char* failure = RunRegion<T>(cells, static_cast<const T*>(b.in[0]), static_cast<const T*>(b.in[1]) + 4 * r,
                                           static_cast<const int64_t*>(b.in[2])[r],
                                           static_cast<T*>(b.out[0]) + r * cells.channels * cells.rows * cells.columns);
        if (failure != nullptr) return failure;
      }
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
