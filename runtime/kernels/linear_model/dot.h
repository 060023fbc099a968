#pragma once

#include <cstdint>

namespace wf::kernels::ref {

// The sum of products, in lanes that the compiler makes a vector of; always added in the same order.
inline float Dot(const float* a, const float* b, int64_t n) {
  constexpr int64_t kLanes = 16;
  float lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lane[k] += a[i + k] * b[i + k];
  }
  float sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (const float each : lane) sum += each;
  return sum;
}

inline float SquaredDistance(const float* a, const float* b, int64_t n) {
  constexpr int64_t kLanes = 16;
  float lane[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int64_t k = 0; k < kLanes; ++k) lane[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
  }
  float sum = 0;
  for (; i < n; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  for (const float each : lane) sum += each;
  return sum;
}

// A row of numbers as f32: itself, or converted into `out`.
template <typename X>
const float* RowAsF32(const X* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(row[i]);
  return out;
}
inline const float* RowAsF32(const float* row, int64_t, float*) { return row; }

}  // namespace wf::kernels::ref
