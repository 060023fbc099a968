#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/kernels/trees/scores.h"
#include "runtime/onnx/trees.h"

namespace wf::kernels {

// Each row of input 0 [n, features] or [features] goes down every tree; what the leaves hold is taken together by target.
// A regressor writes the scores [n, targets] to output 0. A classifier writes one of `labels` for each row to output 0 (i64) and the
// scores to output 1, where nobody may read either; with two classes it follows ONNX Runtime where the standard is silent.
// Thresholds are compared in the type of the trees, integers after conversion to f32, f64 in f64. Sums are of that type, in the order of
// the trees.
struct TreeEnsemble {
  enum class Aggregate : uint8_t { kSum, kAverage, kMin, kMax };
  std::shared_ptr<const onnx::Trees> trees;
  Aggregate aggregate = Aggregate::kSum;
  ScoreTransform transform = ScoreTransform::kNone;
  int64_t targets = 1;          // columns of the scores
  std::vector<int64_t> labels;  // of a classifier, one for each target
};

}  // namespace wf::kernels
