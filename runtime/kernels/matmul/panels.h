#pragma once

#include <cstdint>

// Products of few rows with a matrix that was packed before, for CPUs with AVX2 and FMA: what the steps of a recurrent layer are made of.
namespace wf::kernels::avx2 {

// Panels of a matrix [k, n]: of so many columns each, the last filled with 0.
inline constexpr int64_t kPanelColumns = 64;
constexpr int64_t PanelsElements(int64_t k, int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns * k; }

// turned: [n, k], row-major.
void PackPanels(const float* turned, int64_t k, int64_t n, float* panels);

// c[m, n] += a[m, k] times the panels. backward: from the last to the first, as a repeated product finds in the cache what the one before
// read last. What a row gives does not depend on the others.   REQUIRES: Available() of unary/vector.h.
struct PanelProduct {
  int64_t m, n, k;
  const float* a;
  int64_t a_row;
  const float* panels;
  float* c;
  int64_t c_row;
  bool backward = false;
};
void AddPanels(const PanelProduct& product);

}  // namespace wf::kernels::avx2
