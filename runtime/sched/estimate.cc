#include "runtime/sched/estimate.h"

#include <algorithm>
#include <cmath>

namespace wf::sched {
namespace {

constexpr float kUnknownCompute = 200'000, kUnknownInline = 1'000;  // ns, when the plan states no cost
constexpr float kLeastFactor = 0.125F;
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

// A run moves the mean by half of what it is at most: longer ones were rather their thread's being off its CPU. The low figure goes by
// proportion, four times faster down than up: where a tenth of the runs take next to nothing, it is far below their mean.
void Estimates::Learn(uint16_t task, int64_t prior_ns, int64_t measured_ns, bool failed) {
  Task& entry = tasks_[task];
  const auto measured = static_cast<float>(std::max<int64_t>(1, measured_ns));
  const float sample = measured / static_cast<float>(std::max<int64_t>(1, prior_ns));
  entry.factor += (std::clamp(sample, kLeastFactor, 8 * std::max(1.0F, entry.factor)) - entry.factor) / 16;
  entry.has_news = true;
  if (failed) return;  // who knows how far it came
  entry.most_prior_ns = std::max(entry.most_prior_ns, static_cast<float>(prior_ns));
  const float change = entry.least == 0 ? 0 : std::log2(sample / entry.least);
  entry.least = entry.least == 0 ? sample : entry.least * std::exp2(change / (change < 0 ? 4 : 16));
  entry.most_ns = std::max(entry.most_ns, measured);
}

void Estimates::NoteOnLoop(uint16_t task, int64_t estimate_ns, int64_t measured_ns, base::TimePoint now) {
  Task& entry = tasks_[task];
  if (++entry.runs % 16 == 0 && entry.strikes > 0) --entry.strikes;
  if (measured_ns <= kBarNs) return;
  const bool is_doubtful = measured_ns / kIncredible > estimate_ns && measured_ns < kBeyondDoubtNs;
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
  // Nobody's word is 0, on either side.
  const auto settle = [](float& own, std::atomic<float>& all, bool has_news, auto&& between) {
    const float known = all.load(std::memory_order_relaxed);
    if (known != 0) own = has_news && own != 0 ? between(own, known) : known;
    if (has_news && own != 0) all.store(own, std::memory_order_relaxed);
  };
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Task& entry = tasks_[i];
    SharedFactors::Task& all = shared.by_task_[i];
    settle(entry.factor, all.factor, entry.has_news, [](float own, float known) { return (own + known) / 2; });
    settle(entry.least, all.least, entry.has_news, [](float own, float known) { return std::sqrt(own) * std::sqrt(known); });
    const auto more = [](float own, float known) { return std::max(own, known); };
    settle(entry.most_ns, all.most_ns, entry.has_news, more);
    settle(entry.most_prior_ns, all.most_prior_ns, entry.has_news, more);
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
