#include "runtime/sched/estimate.h"

#include <algorithm>

namespace wf::sched {
namespace {

constexpr float kUnknownCompute = 200'000, kUnknownInline = 1'000;  // ns, when the plan states no cost
constexpr int64_t kBarNs = 1'000'000, kBarredForNs = INT64_C(10'000'000'000);
constexpr int64_t kBeyondDoubtNs = 20'000'000;
constexpr int64_t kIncredible = 64;  // times the estimate: rather the loop was off its CPU than the task slow, so it takes two of them

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
  const int64_t expected_ns = Of(task, prior_ns);
  entry.factor += (sample - entry.factor) / 16;
  entry.has_news = true;
  if (!on_loop) return;
  if (++entry.runs % 16 == 0 && entry.strikes > 0) --entry.strikes;
  if (measured_ns <= kBarNs) return;
  const bool is_doubtful = measured_ns / kIncredible > expected_ns && measured_ns < kBeyondDoubtNs;
  entry.strikes = static_cast<uint8_t>(entry.strikes + (is_doubtful ? 1 : 2));
  if (entry.strikes < 2) return;
  Bar(task, now);
}

void Estimates::Bar(uint16_t task, base::TimePoint now) {
  Task& entry = tasks_[task];
  entry.strikes = 0;
  if (entry.barred_until == 0) ++barred_;
  entry.barred_until = now + kBarredForNs;
  entry.on_loop = false;
}

void Estimates::Merge(SharedFactors& shared) {
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Task& entry = tasks_[i];
    const float known = shared.by_task_[i].load(std::memory_order_relaxed);
    if (entry.has_news) {
      if (known != 0) entry.factor = (entry.factor + known) / 2;
      shared.by_task_[i].store(entry.factor, std::memory_order_relaxed);
    } else if (known != 0) {
      entry.factor = known;
    }
    entry.has_news = false;
  }
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
