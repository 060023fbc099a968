#include "runtime/kernels/ref.h"
#include "runtime/kernels/linear_model/dot.h"

namespace wf::kernels::ref {
namespace {

// The label of a row by scores that are not transformed yet.
int64_t LabelOf(const LinearModel& model, const float* scores) {
  if (model.targets == 1) return model.labels[scores[0] > 0 ? 1 : 0];
  int64_t best = 0;
  for (int64_t i = 1; i < model.targets; ++i) best = scores[i] > scores[best] ? i : best;
  return model.labels[static_cast<size_t>(best)];
}

// `scores` has room for two when one target has two labels. One score alone is put through the probit function or, for two labels, through
// the logistic one.
void Transform(const LinearModel& model, float* scores) {
  const bool probit = model.transform == ScoreTransform::kProbit;
  if (model.targets > 1 || probit) return TransformScores(model.transform, std::span(scores, static_cast<size_t>(model.targets)));
  if (model.labels.size() == 2) WriteBoth(scores[0], SecondScore::kSum1, model.transform, scores);
}

template <typename X>
const char* Run(const LinearModel& model, int64_t rows, int64_t features, const Buffers& b) {
  const X* in = static_cast<const X*>(b.in[0]);
  const bool classifies = !model.labels.empty();
  float* const row = static_cast<float*>(b.scratch);
  float* const scores = row + features;
  const int64_t columns = model.targets == 1 && model.labels.size() == 2 ? 2 : model.targets;
  float* const out = static_cast<float*>(classifies ? b.out[1] : b.out[0]);
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = RowAsF32(in + r * features, features, row);
    for (int64_t i = 0; i < model.targets; ++i) {
      scores[i] = Dot(x, model.coefficients.data() + i * features, features);
      if (!model.intercepts.empty()) scores[i] += model.intercepts[static_cast<size_t>(i)];
    }
    if (classifies && b.out[0] != nullptr) static_cast<int64_t*>(b.out[0])[r] = LabelOf(model, scores);
    if (out == nullptr) continue;
    if (columns > model.targets) scores[1] = 0;
    Transform(model, scores);
    std::copy_n(scores, columns, out + r * columns);
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeLinearModel(const Operation& operation) {
  const LinearModel& model = std::get<LinearModel>(operation.params);
  const TensorInfo& in = operation.in[0];
  const int64_t rows = in.dim.size() == 1 ? 1 : in.dim[0], features = in.dim.back();
  return ForType<float, double, int32_t, int64_t>(in.dtype, [&]<typename X>() {
    auto kernel = MakeFunction(1, [model, rows, features](const Buffers& b) { return Run<X>(model, rows, features, b); });
    kernel->scratch_bytes = (features + model.targets + 1) * static_cast<int64_t>(sizeof(float));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
