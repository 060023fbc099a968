#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/trees/scores.h"

namespace wf::kernels {

// Scores of each row of input 0 [n, features] or [features], taken as f32: coefficients [targets, features] times the row, plus intercepts.
// A regressor writes them to output 0, f32. A classifier writes one of `labels` for each row to output 0 (i64) and the scores to output 1;
// one target with two labels has two scores.
struct LinearModel {
  std::vector<float> coefficients, intercepts;  // no intercepts: 0
  int64_t targets = 1;
  ScoreTransform transform = ScoreTransform::kNone;
  std::vector<int64_t> labels;  // of a classifier
};

}  // namespace wf::kernels
