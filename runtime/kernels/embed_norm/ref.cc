#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

enum Input : size_t { kWords, kSegments, kWordTable, kPositionTable, kSegmentTable, kScale, kShift, kMask, kPositions };

struct Shape {
  int64_t batch, s, n;
  int64_t words, positions, segments;  // rows of the tables
  int64_t position_rows;               // 1: all samples have the same
};

template <typename T>
const T* InOf(const Buffers& b, size_t i) {
  return i < b.in.size() ? static_cast<const T*>(b.in[i]) : nullptr;
}
void* OutOf(const Buffers& b, size_t i) { return i < b.out.size() ? b.out[i] : nullptr; }

template <typename T>
void Normalise(const Shape& s, double epsilon, const Buffers& b, const T* x, T* y) {
  const T *scale = InOf<T>(b, kScale), *shift = InOf<T>(b, kShift);
  const int64_t n = s.n;
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < n; ++i) mean += static_cast<double>(x[i]);
  mean /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) variance += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  const T factor = static_cast<T>(1 / std::sqrt(variance / static_cast<double>(n) + epsilon)), middle = static_cast<T>(mean);
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - middle) * factor * scale[i] + (shift == nullptr ? T(0) : shift[i]);
}

template <typename T>
const char* Run(const Shape& s, double epsilon, const Buffers& b) {
  const int32_t *words = InOf<int32_t>(b, kWords), *segments = InOf<int32_t>(b, kSegments), *mask = InOf<int32_t>(b, kMask);
  const int32_t* positions = InOf<int32_t>(b, kPositions);
  const bool has_segments = segments != nullptr && InOf<T>(b, kSegmentTable) != nullptr;
  T *y = static_cast<T*>(b.out[0]), *sums = static_cast<T*>(OutOf(b, 2)), *one = static_cast<T*>(b.scratch);
  for (int64_t row = 0; row < s.batch * s.s; ++row) {
    const int64_t at = row % s.s;
    const int64_t word = words[row], segment = has_segments ? segments[row] : 0;
    const int64_t position = positions == nullptr ? at : positions[s.position_rows == 1 ? at : row];
    if (word < 0 || word >= s.words || position < 0 || position >= s.positions || segment < 0 || (has_segments && segment >= s.segments))
      return "an index beyond its table";
    T* sum = sums == nullptr ? one : sums + row * s.n;
    const T *a = InOf<T>(b, kWordTable) + word * s.n, *c = InOf<T>(b, kPositionTable) + position * s.n;
    for (int64_t i = 0; i < s.n; ++i) sum[i] = a[i] + c[i];
    if (has_segments) {
      const T* d = InOf<T>(b, kSegmentTable) + segment * s.n;
      for (int64_t i = 0; i < s.n; ++i) sum[i] += d[i];
    }
    Normalise(s, epsilon, b, sum, y + row * s.n);
  }
  if (int32_t* counts = static_cast<int32_t*>(OutOf(b, 1))) {
    for (int64_t batch = 0; batch < s.batch; ++batch) {
      counts[batch] = 0;
      for (int64_t i = 0; mask != nullptr && i < s.s; ++i) counts[batch] += mask[batch * s.s + i] != 0 ? 1 : 0;
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeEmbedNorm(const Operation& operation) {
  const std::vector<int64_t>& dim = operation.in[kWords].dim;
  const auto rows = [&](size_t i) { return HasInput(operation, i) ? operation.in[i].dim[0] : 0; };
  const Shape shape{dim[0],          dim[1], operation.in[kWordTable].dim[1], rows(kWordTable), rows(kPositionTable), rows(kSegmentTable),
                    rows(kPositions)};
  const double epsilon = static_cast<double>(std::get<EmbedNorm>(operation.params).epsilon);
  return ForType<float, double>(operation.in[kWordTable].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [shape, epsilon](const Buffers& b) { return Run<T>(shape, epsilon, b); });
    kernel->scratch_bytes = shape.n * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
