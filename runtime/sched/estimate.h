#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"

namespace wf::sched {

// What the loops of a process have learned of each task, for each other.
// Thread: thread-safe; relaxed: of two loops that write at once one has its say a second later.
class SharedFactors {
 public:
  explicit SharedFactors(const wf_plan& plan) : by_task_(plan.n_tasks) {}

 private:
  friend class Estimates;
  struct Task {
    std::atomic<float> factor{0}, least{0}, most_ns{0}, most_prior_ns{0};  // 0: nobody has timed it
  };
  std::vector<Task> by_task_;
};

// What a task takes on this loop's machine, learned from its runs: a high figure to place it by, and a low one to refuse others by. Both
// scale with the plan's prior, which knows the inputs' sizes but not which branches they take, so that runs of one prior may differ widely.
// Thread: loop-confined; runs on the pool are reported when they come home.   Cost: O(1), no allocation after construction.
class Estimates {
 public:
  explicit Estimates(const wf_plan& plan);

  int64_t Prior(const wf_task& task, void* const* frame) const;  // ns
  // To place it by: the mean of its runs, but not below an eighth of the prior, as the inputs that make it dear may be rare; and not below
  // the prior for inputs beyond those that have been timed, of which small ones say little.
  int64_t Of(uint16_t task, int64_t prior_ns) const {
    const Task& entry = tasks_[task];
    const auto prior = static_cast<float>(prior_ns);
    return static_cast<int64_t>((prior > 2 * entry.most_prior_ns ? std::max(entry.factor, 1.0F) : entry.factor) * prior);
  }
  // What it is sure to take: by its runs alone, so 0 before one has ended, and never more than the longest.
  int64_t LeastOf(uint16_t task, int64_t prior_ns) const {
    const Task& entry = tasks_[task];
    return static_cast<int64_t>(std::min(entry.least * static_cast<float>(prior_ns), entry.most_ns));
  }
  // To be shown: measured, where it is.
  int64_t Shown(uint16_t task, int64_t prior_ns) const { return tasks_[task].least > 0 ? LeastOf(task, prior_ns) : Of(task, prior_ns); }
  void Learn(uint16_t task, int64_t prior_ns, int64_t measured_ns, bool failed);

  // A run on the loop that was placed there by `estimate_ns`. One of more than 1 ms bars the task for 10 s; where that is incredible, two
  // do.
  void NoteOnLoop(uint16_t task, int64_t estimate_ns, int64_t measured_ns, base::TimePoint now);
  // May the task run on the loop? Keeps to its last answer within 20 % around the limit.
  bool FitsLoop(uint16_t task, int64_t estimate_ns, int64_t limit_ns) {
    Task& entry = tasks_[task];
    if (entry.barred_until != 0) [[unlikely]]
      return false;
    const int64_t limit = entry.on_loop ? limit_ns + limit_ns / 10 : limit_ns - limit_ns / 10;
    entry.on_loop = estimate_ns <= limit;
    return entry.on_loop;
  }
  void Bar(uint16_t task, base::TimePoint now);
  bool barred(uint16_t task) const { return tasks_[task].barred_until != 0; }
  // Gives the others a half say of what was learned here since the last time, and takes over what all have learned. Once a second.
  void Merge(SharedFactors& shared);
  void LiftBars(base::TimePoint now);  // those whose 10 s are over; called once in a while

 private:
  struct Task {
    float factor = 1;         // mean of measured over prior, for placement
    float least = 0;          // the same, a low figure; 0: no run has ended
    float most_ns = 0;        // the longest run that has ended
    float most_prior_ns = 0;  // of the runs that have been timed
    bool on_loop = true;
    bool has_news = false;  // timed since the last merge
    uint8_t strikes = 0;    // long runs; two bar the task
    uint8_t runs = 0;       // timed ones; every 16th forgives a strike
    base::TimePoint barred_until = 0;
  };
  std::vector<Task> tasks_;
  int barred_ = 0;
};

}  // namespace wf::sched
