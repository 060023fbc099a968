#include <cmath>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// The buffers of one parameter.
template <typename T>
struct Parameter {
  const T *x, *g, *first, *second;
  T *x_out, *first_out, *second_out;
  int64_t count;
};

// Nobody may read a result.
template <typename T>
void Put(T* to, int64_t i, T value) {
  if (to != nullptr) to[i] = value;
}

double RateOf(const TrainStep& step, double rate, int64_t made) {
  const double steps = static_cast<double>(made);
  if (step.rule == TrainStep::Rule::kAdagrad) return rate / (1 + steps * step.decay);
  if (step.rule == TrainStep::Rule::kAdam && made > 0)
    return rate * std::sqrt(1 - std::pow(double{step.beta}, steps)) / (1 - std::pow(double{step.alpha}, steps));
  return rate;
}

template <typename T>
void Adagrad(const TrainStep& step, T rate, const Parameter<T>& p) {
  for (int64_t i = 0; i < p.count; ++i) {
    const T x = p.x[i], g = static_cast<T>(step.norm) * x + p.g[i], squares = p.first[i] + g * g;
    Put(p.first_out, i, squares);
    Put(p.x_out, i, x - rate * g / (std::sqrt(squares) + static_cast<T>(step.epsilon)));
  }
}

template <typename T>
void Adam(const TrainStep& step, T rate, const Parameter<T>& p) {
  const T alpha = static_cast<T>(step.alpha), beta = static_cast<T>(step.beta);
  for (int64_t i = 0; i < p.count; ++i) {
    const T x = p.x[i], g = static_cast<T>(step.norm) * x + p.g[i];
    const T mean = alpha * p.first[i] + (1 - alpha) * g, squares = beta * p.second[i] + (1 - beta) * g * g;
    Put(p.first_out, i, mean);
    Put(p.second_out, i, squares);
    Put(p.x_out, i, (1 - static_cast<T>(step.norm_afterwards)) * (x - rate * mean / (std::sqrt(squares) + static_cast<T>(step.epsilon))));
  }
}

template <typename T>
void Momentum(const TrainStep& step, T rate, int64_t made, const Parameter<T>& p) {
  const T alpha = static_cast<T>(step.alpha), beta = made > 0 ? static_cast<T>(step.beta) : T{1};
  for (int64_t i = 0; i < p.count; ++i) {
    const T x = p.x[i], g = static_cast<T>(step.norm) * x + p.g[i], moved = alpha * p.first[i] + beta * g;
    Put(p.first_out, i, moved);
    Put(p.x_out, i, x - rate * (step.rule == TrainStep::Rule::kNesterov ? g + alpha * moved : moved));
  }
}

template <typename T>
void Run(const TrainStep& step, std::span<const int64_t> counts, double rate, const Buffers& b) {
  const int64_t made = *static_cast<const int64_t*>(b.in[1]);
  const size_t n = counts.size();
  const bool two = step.kept() == 2;
  const auto in = [&](size_t i) { return static_cast<const T*>(b.in[i]); };
  const auto out = [&](size_t i) { return static_cast<T*>(b.out[i]); };
  const T adapted = static_cast<T>(RateOf(step, rate, made));
  for (size_t i = 0; i < n; ++i) {
    const Parameter<T> p{
        in(2 + i), in(2 + n + i), in(2 + 2 * n + i), two ? in(2 + 3 * n + i) : nullptr, out(i), out(n + i), two ? out(2 * n + i) : nullptr,
        counts[i]};
    if (step.rule == TrainStep::Rule::kAdagrad) Adagrad(step, adapted, p);
    if (step.rule == TrainStep::Rule::kAdam) Adam(step, adapted, p);
    if (step.rule == TrainStep::Rule::kMomentum || step.rule == TrainStep::Rule::kNesterov) Momentum(step, adapted, made, p);
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeTrainStep(const Operation& operation) {
  const TrainStep step = std::get<TrainStep>(operation.params);
  const size_t n = operation.out.size() / static_cast<size_t>(1 + step.kept());
  const uint8_t dtype = operation.in[2].dtype, rate_type = operation.in[0].dtype;
  if (rate_type != WF_F32 && rate_type != WF_F64) return std::unique_ptr<Kernel>();
  std::vector<int64_t> counts;
  for (size_t i = 0; i < n; ++i) counts.push_back(operation.in[2 + i].count());
  for (size_t i = 2; i < operation.in.size(); ++i) {
    if (operation.in[i].dtype != dtype) return std::unique_ptr<Kernel>();
  }
  return ForType<float, double>(dtype, [&]<typename T>() {
    return MakeFunction(operation.in.size(), [step, counts, rate_type](const Buffers& b) -> const char* {
      const bool wide = rate_type == WF_F64;
      Run<T>(step, counts, wide ? *static_cast<const double*>(b.in[0]) : double{*static_cast<const float*>(b.in[0])}, b);
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
