#include "runtime/sched/estimate.h"

#include <algorithm>

namespace wf::sched {
namespace {

constexpr float kUnknownCompute = 200'000, kUnknownInline = 1'000;  // ns, when the plan states no cost
constexpr int64_t kBarNs = 1'000'000, kBarredForNs = INT64_C(10'000'000'000);

}  // namespace

Estimates::Estimates(const wf_plan& plan) : tasks_(plan.n_tasks) {}

int64_t Estimates::Prior(const wf_task& task, void* const* frame) const {
  float ns = task.cost_ns;
  if (task.cost_ns_per_unit > 0) ns += task.cost_ns_per_unit * (task.work == nullptr ? 1.0F : static_cast<float>(task.work(frame)));
  if (ns > 0) return static_cast<int64_t>(std::min(ns, 1e15F)) + 1;
  return static_cast<int64_t>(task.cost_class == WF_COMPUTE ? kUnknownCompute : kUnknownInline);
}

void Estimates::Learn(uint16_t task, int64_t prior_ns, int64_t measured_ns, bool on_loop, base::TimePoint now) {
  Task& entry = tasks_[task];
  const float sample = std::clamp(static_cast<float>(measured_ns) / static_cast<float>(std::max<int64_t>(1, prior_ns)), 0.125F, 8.0F);
  entry.factor += (sample - entry.factor) / 16;
  if (!on_loop || measured_ns <= kBarNs) return;
  if (entry.barred_until == 0) ++barred_;
  entry.barred_until = now + kBarredForNs;
  entry.on_loop = false;
}

void Estimates::LiftBars(base::TimePoint now) {
  if (barred_ == 0) return;
  for (Task& entry : tasks_) {
    if (entry.barred_until == 0 || entry.barred_until > now) continue;
    entry.barred_until = 0;
    --barred_;
  }
}

}  // namespace wf::sched
