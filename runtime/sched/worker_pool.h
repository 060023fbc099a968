#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/batch/backlog.h"
#include "runtime/sched/job_queue.h"

namespace wf::sched {

struct WorkerPoolOptions {
  int threads = 1;
  int64_t spin_ns = 0;  // before sleeping; only when there are no more threads than CPUs
};

// The compute pool: threads that run strands; three strict priorities, the earliest deadline first inside; a job rises one
// class per 100 ms waited; `low` never occupies the last free thread.
// Thread: Push thread-safe.   Owns: its threads.   Borrows: clock; jobs, which go back to their loops.
// Bounds: as many jobs as loops push.   Cost: Push one mutex, O(log waiting); a wake only when a thread sleeps.
class WorkerPool final : public JobQueue {
 public:
  WorkerPool(const WorkerPoolOptions& options, const base::Clock& clock);
  ~WorkerPool() override;  // finishes what waits, then joins
  void Push(Job& job) noexcept override;
  int64_t WaitNs(uint8_t priority, base::TimePoint deadline) const noexcept override {
    return backlog_.Before(priority, deadline) / options_.threads;
  }
  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  struct Lists;
  void RunThread();
  void Spin();
  Job* Pop() WF_REQUIRES(mutex_);

  const WorkerPoolOptions options_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  base::Condition work_;
  batch::Backlog backlog_;  // in ns of work
  const std::unique_ptr<Lists> lists_ WF_THREAD_ATTRIBUTE(pt_guarded_by(mutex_));
  int idle_ WF_GUARDED_BY(mutex_) = 0, busy_ WF_GUARDED_BY(mutex_) = 0;
  base::TimePoint aged_at_ WF_GUARDED_BY(mutex_) = 0;
  std::atomic<int> pending_{0};  // for spinning threads
  bool stopping_ WF_GUARDED_BY(mutex_) = false;
  std::vector<base::Thread> threads_;
};

}  // namespace wf::sched
