#include "runtime/kernels/avx2.h"

#include <algorithm>
#include <limits>

#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/unary/vector_math.h"
#include "runtime/kernels/windows.h"

namespace wf::kernels::avx2 {
namespace {

using ref::PlaneAxes;
using ref::Windows;

constexpr int64_t kLeastRow = 48;  // of images: oneDNN, which takes several channels at a time, is faster where rows are shorter
constexpr float kLeast = -std::numeric_limits<float>::infinity();
constexpr int64_t kMostStride = 64, kMostReach = int64_t{1} << 20;  // of windows along a row: what they reach is in memory

struct Lines {
  Windows windows;
  int64_t length;  // of a line, with padding and what vectors reach behind it
  int64_t count;   // of x in it, behind pad[2]
};

// NaN where either is, else the larger; of equal ones `held`.
WF_AVX2 inline __m256 Higher(__m256 held, __m256 next) {
  return _mm256_or_ps(_mm256_max_ps(next, held), _mm256_cmp_ps(held, next, _CMP_UNORD_Q));
}

WF_AVX2 void Join(const float* row, int64_t count, float* line) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) _mm256_storeu_ps(line + i, Higher(_mm256_loadu_ps(line + i), _mm256_loadu_ps(row + i)));
  const __m256i lanes = FirstLanes(count - i);
  _mm256_maskstore_ps(line + i, lanes, Higher(_mm256_maskload_ps(line + i, lanes), _mm256_maskload_ps(row + i, lanes)));
}

// Every kStride-th of the elements from here on; 0: every `stride`-th.
template <int64_t kStride>
WF_AVX2 inline __m256 Spread(const float* from, __m256i places) {
  if constexpr (kStride == 1) return _mm256_loadu_ps(from);
  if constexpr (kStride == 2) {
    const __m256 mixed = _mm256_shuffle_ps(_mm256_loadu_ps(from), _mm256_loadu_ps(from + kLanes), 0x88);
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xD8));
  }
  return _mm256_i32gather_ps(from, places, sizeof(float));
}

// A row of the result.
template <int64_t kStride>
WF_AVX2 inline void PassLine(const Windows& s, const float* line, float* out) {
  const __m256i places = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(static_cast<int>(s.stride[2])));
  for (int64_t o = 0; o < s.out[2]; o += kLanes) {
    const float* from = line + o * s.stride[2];
    __m256 high = Spread<kStride>(from, places);
    for (int64_t k = 1; k < s.kernel[2]; ++k) high = Higher(high, Spread<kStride>(from + k * s.dilation[2], places));
    _mm256_maskstore_ps(out + o, FirstLanes(s.out[2] - o), high);
  }
}

WF_AVX2 void PassAny(const Windows& s, const float* line, float* out) {
  if (s.stride[2] == 1) return PassLine<1>(s, line, out);
  s.stride[2] == 2 ? PassLine<2>(s, line, out) : PassLine<0>(s, line, out);
}

// The line of the windows that begin at rows `first` of their plane.
void MakeLine(const Lines& lines, const float* plane, int64_t first_depth, int64_t first_row, float* line) {
  const Windows& s = lines.windows;
  float* const to = line + s.pad[2];
  bool is_first = true;
  for (int64_t a = 0; a < s.kernel[0]; ++a) {
    const int64_t depth = first_depth + a * s.dilation[0];
    if (depth < 0 || depth >= s.in[0]) continue;
    for (int64_t b = 0; b < s.kernel[1]; ++b) {
      const int64_t row = first_row + b * s.dilation[1];
      if (row < 0 || row >= s.in[1]) continue;
      const float* from = plane + (depth * s.in[1] + row) * s.in[2];
      is_first ? static_cast<void>(std::copy_n(from, lines.count, to)) : Join(from, lines.count, to);
      is_first = false;
    }
  }
  if (is_first) std::fill_n(to, lines.count, kLeast);
}

const char* Run(const Lines& lines, const Buffers& b) {
  const Windows& s = lines.windows;
  const auto* x = static_cast<const float*>(b.in[0]);
  auto *y = static_cast<float*>(b.out[0]), *line = static_cast<float*>(b.scratch);
  std::fill_n(line, lines.length, kLeast);
  for (int64_t plane = 0; plane < s.planes; ++plane, x += s.in[0] * s.in[1] * s.in[2]) {
    for (int64_t d = 0; d < s.out[0]; ++d) {
      for (int64_t h = 0; h < s.out[1]; ++h, y += s.out[2]) {
        MakeLine(lines, x, d * s.stride[0] - s.pad[0], h * s.stride[1] - s.pad[1], line);
        PassAny(s, line, y);
      }
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakePool(const Operation& operation) {
  const auto& pool = std::get<Pool>(operation.params);
  const TensorInfo& x = operation.in[0];
  if (!Available() || pool.mean || pool.power > 0 || x.dtype != WF_F32 || x.format != nullptr) return std::unique_ptr<Kernel>();
  const Windows windows = ref::WindowsOf(pool, operation);
  const int64_t out = windows.out[2], stride = windows.stride[2], kernel = windows.kernel[2], dilation = windows.dilation[2];
  const bool reaches_far = kernel > kMostReach || dilation > kMostReach || kernel * dilation > kMostReach || windows.pad[2] > kMostReach;
  const bool is_short = out < kLanes || (windows.in[0] * windows.in[1] > 1 && windows.in[2] < kLeastRow);
  if (is_short || stride > kMostStride || reaches_far) return std::unique_ptr<Kernel>();
  // Vectors of windows begin within the result rounded up, and reach as far as a window and another vector.
  Lines lines{windows, (out + kLanes) * stride + kernel * dilation + 2 * kLanes + windows.pad[2], 0};
  lines.count = std::min(windows.in[2], lines.length - windows.pad[2]);
  auto made = MakeFunction(1, [lines](const Buffers& b) { return Run(lines, b); });
  made->scratch_bytes = lines.length * static_cast<int64_t>(sizeof(float));
  return made;
}

}  // namespace wf::kernels::avx2
