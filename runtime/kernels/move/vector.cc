#include "runtime/kernels/avx2.h"

#include <algorithm>

#include "runtime/kernels/move/strided.h"
#include "runtime/kernels/operation.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::avx2 {
namespace {

// A plane of `rows` by `columns` of the result, whose rows lie side by side in the input. Strides in elements.
struct Plane {
  int64_t rows, columns, in_column, out_row;
};

// Axes of the result around its planes: where each plane begins.
struct Planes {
  Plane plane;
  std::vector<int64_t> in_at, out_at;
};

// to[i][j] = from[j][i]
WF_AVX2 inline void TurnSquare(const float* from, int64_t from_row, float* to, int64_t to_row) {
  __m256 row[8], pair[8];
  for (int64_t i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(from + i * from_row);
  for (int64_t i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
  }
  for (int64_t i = 0; i < 8; i += 4) {
    row[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    row[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xEE);
    row[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    row[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xEE);
  }
  for (int64_t i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_row, _mm256_permute2f128_ps(row[i], row[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_row, _mm256_permute2f128_ps(row[i], row[i + 4], 0x31));
  }
}

void TurnRest(const Plane& p, int64_t first_row, int64_t first_column, const float* in, float* out) {
  for (int64_t row = first_row; row < p.rows; ++row) {
    for (int64_t column = first_column; column < p.columns; ++column) out[row * p.out_row + column] = in[column * p.in_column + row];
  }
}

// Two squares side by side fill lines of the cache.
WF_AVX2 void Turn(const Plane& p, const float* in, float* out) {
  const int64_t rows = p.rows - p.rows % kLanes, columns = p.columns - p.columns % kLanes;
  for (int64_t row = 0; row < rows; row += 2 * kLanes) {
    const int64_t end = std::min(row + 2 * kLanes, rows);
    for (int64_t column = 0; column < columns; column += kLanes) {
      for (int64_t at = row; at < end; at += kLanes)
        TurnSquare(in + column * p.in_column + at, p.in_column, out + at * p.out_row + column, p.out_row);
    }
  }
  TurnRest({rows, p.columns, p.in_column, p.out_row}, 0, columns, in, out);  // behind whole squares, then below them
  TurnRest(p, rows, 0, in, out);
}

// Elements are 4 bytes of any type: as floats they are only loaded and stored.
const char* Run(const Planes& planes, const Buffers& b) {
  for (size_t i = 0; i < planes.in_at.size(); ++i)
    Turn(planes.plane, static_cast<const float*>(b.in[0]) + planes.in_at[i], static_cast<float*>(b.out[0]) + planes.out_at[i]);
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeTranspose(const Operation& operation) {
  constexpr int64_t kBytes = sizeof(float), kMostPlanes = 4096;
  const TensorInfo& x = operation.in[0];
  if (!Available() || base::DTypeSize(x.dtype) != kBytes || x.count() == 0) return std::unique_ptr<Kernel>();
  ref::Strided strided;
  strided.size = kBytes;
  const std::vector<int64_t> stride = StridesOf(x.dim);
  for (const size_t from : std::get<Transpose>(operation.params).perm) {
    strided.extent.push_back(x.dim[from]);
    strided.stride.push_back(stride[from] * kBytes);
  }
  strided.Merge();
  const auto last_of_in = std::find(strided.stride.begin(), strided.stride.end(), kBytes);
  if (strided.size != kBytes || strided.extent.empty() || last_of_in == strided.stride.end()) return std::unique_ptr<Kernel>();
  const auto axis = static_cast<size_t>(last_of_in - strided.stride.begin()), last = strided.extent.size() - 1;
  const std::vector<int64_t> out_stride = StridesOf(strided.extent);
  Planes planes{{strided.extent[axis], strided.extent[last], strided.stride[last] / kBytes, out_stride[axis]}, {0}, {0}};
  const int64_t count = x.count() / (planes.plane.rows * planes.plane.columns);
  if (planes.plane.rows < kLanes || planes.plane.columns < kLanes || count > kMostPlanes) return std::unique_ptr<Kernel>();
  for (size_t i = 0; i < last; ++i) {
    if (i == axis) continue;
    Planes more{planes.plane, {}, {}};
    for (size_t k = 0; k < planes.in_at.size(); ++k) {
      for (int64_t at = 0; at < strided.extent[i]; ++at) {
        more.in_at.push_back(planes.in_at[k] + at * strided.stride[i] / kBytes);
        more.out_at.push_back(planes.out_at[k] + at * out_stride[i]);
      }
    }
    planes = std::move(more);
  }
  return MakeFunction(1, [planes](const Buffers& b) { return Run(planes, b); });
}

}  // namespace wf::kernels::avx2
