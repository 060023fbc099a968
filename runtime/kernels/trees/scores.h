#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

// What the models of ai.onnx.ml do with the scores of a row last.
namespace wf::kernels {

enum class ScoreTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

inline ScoreTransform ScoreTransformOf(std::string_view name) {  // of checked names
  constexpr std::pair<std::string_view, ScoreTransform> kNames[] = {{"SOFTMAX", ScoreTransform::kSoftmax},
                                                                    {"LOGISTIC", ScoreTransform::kLogistic},
                                                                    {"SOFTMAX_ZERO", ScoreTransform::kSoftmaxZero},
                                                                    {"PROBIT", ScoreTransform::kProbit}};
  for (const auto& [each, transform] : kNames) {
    if (each == name) return transform;
  }
  return ScoreTransform::kNone;
}

template <typename T>
T Logistic(T x) {
  const T of_size = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - of_size : of_size;
}

// The inverse of the normal distribution's function by Winitzki's approximation of the inverse error function, as ONNX Runtime has it.
template <typename T>
T Probit(T p) {
  constexpr float kA = 0.147f, kPi = 3.14159f, kRootOf2 = 1.41421356f;
  const float x = 2 * static_cast<float>(p) - 1, log = std::log((1 - x) * (1 + x));
  const float half = 2 / (kPi * kA) + 0.5f * log;
  const float root = std::sqrt(-half + std::sqrt(half * half - log / kA));
  return static_cast<T>(kRootOf2 * (x < 0 ? -root : root));
}

// `skip_zeros`: what is 0 stays 0.
template <typename T>
void SoftmaxOf(std::span<T> scores, bool skip_zeros) {
  constexpr T kZero = static_cast<T>(1e-7f);
  T most = std::numeric_limits<T>::lowest(), sum = 0;
  for (const T score : scores) most = score > most ? score : most;
  for (T& score : scores) {
    const bool skipped = skip_zeros && score >= -kZero && score <= kZero;
    score = skipped ? score * std::exp(-most) : std::exp(score - most);
    if (!skipped) sum += score;
  }
  for (T& score : scores) score /= sum;
}

template <typename T>
void TransformScores(ScoreTransform transform, std::span<T> scores) {
  switch (transform) {
    case ScoreTransform::kNone:
      return;
    case ScoreTransform::kLogistic:
      for (T& score : scores) score = Logistic(score);
      return;
    case ScoreTransform::kProbit:
      for (T& score : scores) score = Probit(score);
      return;
    case ScoreTransform::kSoftmax:
    case ScoreTransform::kSoftmaxZero:
      SoftmaxOf(scores, transform == ScoreTransform::kSoftmaxZero);
      return;
  }
}

// How a model of two classes with one score says both that are put through no function. kSum1: 1 - s and s; kOpposite: -s and s.
enum class SecondScore : uint8_t { kSum1, kOpposite };

// Makes two scores of the one for the second class. Softmax is not taken of them, as in ONNX Runtime.
template <typename T>
void WriteBoth(T score, SecondScore second, ScoreTransform transform, T* out) {
  const bool logistic = transform == ScoreTransform::kLogistic;
  out[0] = logistic ? Logistic(-score) : second == SecondScore::kSum1 ? 1 - score : -score;
  out[1] = logistic ? Logistic(score) : score;
}

}  // namespace wf::kernels
