#pragma once

#include <cstdint>
#include <vector>

#include "runtime/kernels/trees/scores.h"

namespace wf::kernels {

// A support vector machine over the rows of input 0 [n, features] or [features], taken as f32.
// Without support vectors the scores are coefficients [k, features] times the row plus rho[0]. A regressor writes its one score to output
// 0, f32: coefficients times the kernel's values plus rho[0], or -1 or 1 by its sign where `one_class`. A classifier writes one of `labels`
// to output 0 (i64) by the votes of all pairs of classes and the scores to output 1: those of pairs, or probabilities of classes by prob_a
// and prob_b (Lin, Lin and Weng; Wu, Lin and Weng's second method); with two classes it follows ONNX Runtime where the standard is silent.
struct Svm {
  enum class Function : uint8_t { kLinear, kPoly, kRbf, kSigmoid };
  Function function = Function::kLinear;
  float gamma = 0, coef0 = 0, degree = 0;
  int64_t vectors = 0, features = 0;
  std::vector<float> support_vectors;  // [vectors, features]
  std::vector<float> coefficients;     // [classes - 1, vectors], [vectors], or [classes, features] without support vectors
  std::vector<float> rho, prob_a, prob_b;
  std::vector<int64_t> vectors_per_class, labels;  // of a classifier
  bool one_class = false;
  ScoreTransform transform = ScoreTransform::kNone;

  int64_t classes() const { return static_cast<int64_t>(labels.size()); }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
  int64_t columns() const {  // of the scores
    if (labels.empty()) return 1;
    return vectors > 0 && prob_a.empty() && classes() > 2 ? pairs() : classes();
  }
};

}  // namespace wf::kernels
