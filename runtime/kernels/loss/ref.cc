#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

struct Classes {
  int64_t n, c, inner;
};

// Over axis 1.
template <typename T>
void LogSoftmax(const Classes& s, const T* x, T* y) {
  for (int64_t each = 0; each < s.n * s.inner; ++each) {
    const int64_t first = each / s.inner * s.c * s.inner + each % s.inner;
    T high = x[first];
    double sum = 0;
    for (int64_t k = 1; k < s.c; ++k) high = std::max(high, x[first + k * s.inner]);
    for (int64_t k = 0; k < s.c; ++k) sum += std::exp(static_cast<double>(x[first + k * s.inner] - high));
    const T logarithm = static_cast<T>(std::log(sum));
    for (int64_t k = 0; k < s.c; ++k) y[first + k * s.inner] = x[first + k * s.inner] - high - logarithm;
  }
}

template <typename T, typename I>
const char* Run(const Classes& s, const ClassLoss& loss, const Buffers& b) {
  const T* scores = static_cast<const T*>(b.in[0]);
  const I* targets = static_cast<const I*>(b.in[1]);
  const T* weights = b.in.size() > 2 ? static_cast<const T*>(b.in[2]) : nullptr;
  T* y = static_cast<T*>(b.out[0]);
  if (loss.softmax) {
    T* logarithms = b.out.size() > 1 && b.out[1] != nullptr ? static_cast<T*>(b.out[1]) : static_cast<T*>(b.scratch);
    if (s.c > 0) LogSoftmax(s, scores, logarithms);
    scores = logarithms;
  }
  double sum = 0, divisor = 0;
  for (int64_t each = 0; each < s.n * s.inner; ++each) {
    const int64_t target = static_cast<int64_t>(targets[each]);
    const bool ignored = loss.ignored && target == *loss.ignored;
    if (!ignored && (target < 0 || target >= s.c)) return "a target is no class of the scores";
    const double weight = ignored ? 0 : weights == nullptr ? 1 : static_cast<double>(weights[target]);
    const double score = ignored ? 0 : static_cast<double>(scores[(each / s.inner * s.c + target) * s.inner + each % s.inner]);
    const double value = ignored ? 0 : -score * weight;
    if (loss.reduction == ClassLoss::Reduction::kNone) y[each] = static_cast<T>(value);
    sum += value;
    divisor += weight;
  }
  if (loss.reduction == ClassLoss::Reduction::kSum) y[0] = static_cast<T>(sum);
  if (loss.reduction == ClassLoss::Reduction::kMean) y[0] = static_cast<T>(sum / divisor);
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeClassLoss(const Operation& operation) {
  const ClassLoss loss = std::get<ClassLoss>(operation.params);
  const std::vector<int64_t>& dim = operation.in[0].dim;
  Classes classes{dim[0], dim[1], 1};
  for (size_t i = 2; i < dim.size(); ++i) classes.inner *= dim[i];
  const bool wide = operation.in[1].dtype == WF_I64, scratch = loss.softmax && (operation.out.size() < 2 || operation.out[1].dtype == 0);
  if (!wide && operation.in[1].dtype != WF_I32) return std::unique_ptr<Kernel>();
  if (operation.in.size() > 2 && operation.in[2].dtype != 0 && operation.in[2].dtype != operation.in[0].dtype)
    return std::unique_ptr<Kernel>();
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [classes, loss, wide](const Buffers& b) {
      return wide ? Run<T, int64_t>(classes, loss, b) : Run<T, int32_t>(classes, loss, b);
    });
    if (scratch) kernel->scratch_bytes = operation.in[0].count() * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
