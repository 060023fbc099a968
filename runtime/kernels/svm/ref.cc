#include <algorithm>
#include <cmath>

#include "runtime/kernels/linear_model/dot.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// Of one run, one row after the other.
struct Scratch {
  Scratch(const Svm& svm, void* memory) {
    float* next = static_cast<float*>(memory);
    const auto take = [&next](int64_t count) { return std::exchange(next, next + count); };
    row = take(svm.features);
    kernel = take(svm.vectors);
    pair = take(svm.pairs() + 2);
    score = take(svm.columns() + 2);
    votes = take(svm.classes());
    if (svm.prob_a.empty()) return;
    r = take(svm.classes() * svm.classes());
    q = take(svm.classes() * svm.classes());
    qp = take(svm.classes());
  }
  static int64_t Bytes(const Svm& svm) {
    const int64_t k = svm.classes();
    const int64_t floats = svm.features + svm.vectors + svm.pairs() + svm.columns() + k + 4 + (svm.prob_a.empty() ? 0 : 2 * k * k + k);
    return floats * static_cast<int64_t>(sizeof(float));
  }
  float *row, *kernel, *pair, *score, *votes, *r = nullptr, *q = nullptr, *qp = nullptr;
};

float KernelOf(const Svm& svm, const float* x, const float* vector) {
  switch (svm.function) {
    case Svm::Function::kLinear:
      return Dot(x, vector, svm.features);
    case Svm::Function::kRbf:
      return std::exp(-svm.gamma * SquaredDistance(x, vector, svm.features));
    case Svm::Function::kPoly: {
      const float base = svm.gamma * Dot(x, vector, svm.features) + svm.coef0;
      return svm.degree == 2 ? base * base : svm.degree == 3 ? base * base * base : std::pow(base, svm.degree);
    }
    case Svm::Function::kSigmoid:
      return std::tanh(svm.gamma * Dot(x, vector, svm.features) + svm.coef0);
  }
  return 0;
}

// Decision values and votes of each pair of classes.
void ScorePairs(const Svm& svm, const Scratch& s) {
  const int64_t k = svm.classes();
  std::fill_n(s.votes, k, 0.0f);
  float* pair = s.pair;
  int64_t begin_i = 0;
  for (int64_t i = 0; i + 1 < k; ++i) {
    const int64_t count_i = svm.vectors_per_class[static_cast<size_t>(i)];
    int64_t begin_j = begin_i + count_i;
    for (int64_t j = i + 1; j < k; ++j) {
      const int64_t count_j = svm.vectors_per_class[static_cast<size_t>(j)];
      const float *of_i = svm.coefficients.data() + (j - 1) * svm.vectors, *of_j = svm.coefficients.data() + i * svm.vectors;
      double sum = 0;
      for (int64_t m = begin_i; m < begin_i + count_i; ++m) sum += static_cast<double>(of_i[m] * s.kernel[m]);
      for (int64_t m = begin_j; m < begin_j + count_j; ++m) sum += static_cast<double>(of_j[m] * s.kernel[m]);
      sum += static_cast<double>(svm.rho[static_cast<size_t>(pair - s.pair)]);
      *pair++ = static_cast<float>(sum);
      s.votes[sum > 0 ? i : j] += 1;
      begin_j += count_j;
    }
    begin_i += count_i;
  }
}

// Probabilities of pairs by Platt's sigmoid: r[i, j] of class i where it is i or j.
void PairProbabilities(const Svm& svm, const Scratch& s) {
  constexpr float kLeast = 1e-7f;
  const int64_t k = svm.classes();
  size_t pair = 0;
  for (int64_t i = 0; i + 1 < k; ++i) {
    for (int64_t j = i + 1; j < k; ++j, ++pair) {
      const float of_i = 1 - Logistic(s.pair[pair] * svm.prob_a[pair] + svm.prob_b[pair]);
      const float kept = std::min(std::max(of_i, kLeast), 1 - kLeast);
      s.r[i * k + j] = kept;
      s.r[j * k + i] = 1 - kept;
    }
  }
}

// p minimises the sum of (r[j, i] p[i] - r[i, j] p[j])^2: Q p = (p Q p) 1, one coordinate after the other.
void CoupleProbabilities(const Svm& svm, const Scratch& s) {
  const int64_t k = svm.classes();
  float *const p = s.score, *const q = s.q, *const qp = s.qp;
  for (int64_t i = 0; i < k; ++i) {
    p[i] = 1.0f / static_cast<float>(k);
    q[i * k + i] = 0;
    for (int64_t j = 0; j < k; ++j) {
      if (j == i) continue;
      q[i * k + i] += s.r[j * k + i] * s.r[j * k + i];
      q[i * k + j] = j < i ? q[j * k + i] : -s.r[j * k + i] * s.r[i * k + j];
    }
  }
  constexpr int kMostTurns = 100;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    float pqp = 0, error = 0;
    for (int64_t i = 0; i < k; ++i) {
      qp[i] = 0;
      for (int64_t j = 0; j < k; ++j) qp[i] += q[i * k + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (int64_t i = 0; i < k; ++i) error = std::max(error, std::abs(qp[i] - pqp));
    if (error < 0.005f / static_cast<float>(k)) return;
    for (int64_t i = 0; i < k; ++i) {
      const float step = (pqp - qp[i]) / q[i * k + i], scale = 1 + step;
      p[i] += step;
      pqp = (pqp + step * (step * q[i * k + i] + 2 * qp[i])) / scale / scale;
      for (int64_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[i * k + j]) / scale;
        p[j] /= scale;
      }
    }
  }
}

// Of two classes without probabilities and support vectors the standard does not say which score stands for which.
int64_t LabelOf(const Svm& svm, const Scratch& s, bool all_positive) {
  const float* by = svm.vectors > 0 ? s.votes : s.score;
  const int64_t best = std::max_element(by, by + svm.classes()) - by;
  const float most = svm.vectors > 0 ? 0 : by[best];
  const bool second = svm.classes() == 2 && svm.prob_a.empty() && (all_positive ? most >= 0.5f : most > 0);
  return svm.labels[static_cast<size_t>(second ? 1 : best)];
}

void Transform(const Svm& svm, float* scores) {
  const bool one = svm.vectors > 0 && svm.prob_a.empty() && svm.classes() == 2;
  if (!one) return TransformScores(svm.transform, std::span(scores, static_cast<size_t>(svm.columns())));
  if (svm.transform == ScoreTransform::kProbit) {
    scores[0] = Probit(scores[0]);
    scores[1] = 0;
    return;
  }
  WriteBoth(scores[0], svm.transform == ScoreTransform::kNone ? SecondScore::kOpposite : SecondScore::kSum1, svm.transform, scores);
}

// Where the results of a row go; null: nobody reads it.
struct RowOut {
  int64_t* label;
  float* scores;
};

void Classify(const Svm& svm, const float* x, const Scratch& s, bool all_positive, const RowOut& out) {
  if (svm.vectors == 0) {
    for (int64_t i = 0; i < svm.classes(); ++i) s.score[i] = Dot(x, svm.coefficients.data() + i * svm.features, svm.features) + svm.rho[0];
  } else {
    for (int64_t i = 0; i < svm.vectors; ++i) s.kernel[i] = KernelOf(svm, x, svm.support_vectors.data() + i * svm.features);
    ScorePairs(svm, s);
    if (svm.prob_a.empty()) {
      std::copy_n(s.pair, svm.pairs(), s.score);
    } else {
      PairProbabilities(svm, s);
      CoupleProbabilities(svm, s);
    }
  }
  if (out.label != nullptr) *out.label = LabelOf(svm, s, all_positive);
  if (out.scores == nullptr) return;
  Transform(svm, s.score);
  std::copy_n(s.score, svm.columns(), out.scores);
}

float Regress(const Svm& svm, const float* x) {
  float sum = 0;
  if (svm.vectors == 0) sum = Dot(x, svm.coefficients.data(), svm.features);
  for (int64_t i = 0; i < svm.vectors; ++i)
    sum += svm.coefficients[static_cast<size_t>(i)] * KernelOf(svm, x, svm.support_vectors.data() + i * svm.features);
  sum += svm.rho[0];
  if (svm.one_class) return sum > 0 ? 1.0f : -1.0f;
  return svm.transform == ScoreTransform::kProbit ? Probit(sum) : sum;
}

template <typename X>
const char* Run(const Svm& svm, int64_t rows, bool all_positive, const Buffers& b) {
  const Scratch s(svm, b.scratch);
  const X* in = static_cast<const X*>(b.in[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = RowAsF32(in + r * svm.features, svm.features, s.row);
    if (svm.labels.empty()) {
      static_cast<float*>(b.out[0])[r] = Regress(svm, x);
    } else {
      int64_t* const label = b.out[0] == nullptr ? nullptr : static_cast<int64_t*>(b.out[0]) + r;
      float* const scores = b.out[1] == nullptr ? nullptr : static_cast<float*>(b.out[1]) + r * svm.columns();
      Classify(svm, x, s, all_positive, {label, scores});
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeSvm(const Operation& operation) {
  const Svm& svm = std::get<Svm>(operation.params);
  const int64_t rows = operation.in[0].dim.size() == 1 ? 1 : operation.in[0].dim[0];
  const bool all_positive = std::all_of(svm.coefficients.begin(), svm.coefficients.end(), [](float value) { return value >= 0; });
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    auto kernel = MakeFunction(1, [svm, rows, all_positive](const Buffers& b) { return Run<X>(svm, rows, all_positive, b); });
    kernel->scratch_bytes = Scratch::Bytes(svm);
    return kernel;
  });
}

}  // namespace wf::kernels::ref
