#include "runtime/kernels/matmul/panels.h"

#include <algorithm>

#include "runtime/kernels/unary/vector_math.h"

namespace wf::kernels::avx2 {
namespace {

constexpr int64_t kVectors = kPanelColumns / kLanes, kMostRows = 3;

// Where rows of the product lie.
struct Place {
  const float *a, *panel;
  float* c;
  int64_t c_row;
};

// As many columns of a panel as kWide vectors have, from `column` on: their sums stay in registers.
template <int64_t kRows, int64_t kWide>
WF_AVX2 inline void AddTile(const PanelProduct& p, const Place& at, int64_t column) {
  const float* panel = at.panel + column;
  float* const c = at.c + column;
  __m256 sum[kRows][kWide];
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kWide; ++x) sum[y][x] = _mm256_loadu_ps(c + y * at.c_row + x * kLanes);
  }
  for (int64_t k = 0; k < p.k; ++k, panel += kPanelColumns) {
    for (int64_t y = 0; y < kRows; ++y) {
      const __m256 factor = _mm256_broadcast_ss(at.a + y * p.a_row + k);
      for (int64_t x = 0; x < kWide; ++x) sum[y][x] = _mm256_fmadd_ps(factor, _mm256_loadu_ps(panel + x * kLanes), sum[y][x]);
    }
  }
  for (int64_t y = 0; y < kRows; ++y) {
    for (int64_t x = 0; x < kWide; ++x) _mm256_storeu_ps(c + y * at.c_row + x * kLanes, sum[y][x]);
  }
}

// One row keeps all of a panel's columns, more rows half of them at a time: with fewer sums each would wait for its own last one.
WF_AVX2 void AddRows(const PanelProduct& p, int64_t rows, const Place& at) {
  constexpr int64_t kHalf = kVectors / 2;
  if (rows == 1) return AddTile<1, kVectors>(p, at, 0);
  for (int64_t x = 0; x < kPanelColumns; x += kHalf * kLanes) rows == 2 ? AddTile<2, kHalf>(p, at, x) : AddTile<3, kHalf>(p, at, x);
}

}  // namespace

void PackPanels(const float* turned, int64_t k, int64_t n, float* panels) {
  for (int64_t first = 0; first < n; first += kPanelColumns) {
    for (int64_t i = 0; i < k; ++i, panels += kPanelColumns) {
      for (int64_t j = 0; j < kPanelColumns; ++j) panels[j] = first + j < n ? turned[(first + j) * k + i] : 0;
    }
  }
}

void AddPanels(const PanelProduct& p) {
  const int64_t panels = PanelsElements(1, p.n) / kPanelColumns;
  for (int64_t at = 0; at < panels; ++at) {
    const int64_t each = p.backward ? panels - 1 - at : at, first = each * kPanelColumns, columns = std::min(kPanelColumns, p.n - first);
    const float* panel = p.panels + each * kPanelColumns * p.k;
    for (int64_t row = 0; row < p.m; row += kMostRows) {
      const int64_t rows = std::min(kMostRows, p.m - row);
      const float* a = p.a + row * p.a_row;
      float* c = p.c + row * p.c_row + first;
      if (columns == kPanelColumns) {
        AddRows(p, rows, {a, panel, c, p.c_row});
        continue;
      }
      float part[kMostRows * kPanelColumns] = {};  // of the last panel, whose columns are fewer
      for (int64_t y = 0; y < rows; ++y) std::copy_n(c + y * p.c_row, columns, part + y * kPanelColumns);
      AddRows(p, rows, {a, panel, part, kPanelColumns});
      for (int64_t y = 0; y < rows; ++y) std::copy_n(part + y * kPanelColumns, columns, c + y * p.c_row);
    }
  }
}

}  // namespace wf::kernels::avx2
