#include "runtime/sched/worker_pool.h"

#include <sched.h>

#include <algorithm>

#include "runtime/sched/job.h"

namespace wf::sched {
namespace {

constexpr int64_t kAgeNs = 100'000'000;  // waited: one class up
constexpr int64_t kLeastBetweenAges = kAgeNs / 10;
constexpr int kLevels = WF_LOW + 1;

bool Later(const Job* a, const Job* b) { return a->deadline > b->deadline; }

}  // namespace

// One heap per class, the earliest deadline on top.
struct WorkerPool::Lists {
  explicit Lists(batch::Backlog& of) : backlog(of) {}
  batch::Backlog& backlog;
  std::vector<Job*> level[kLevels];

  void Push(int at, Job& job) {
    level[at].push_back(&job);
    std::push_heap(level[at].begin(), level[at].end(), Later);
    job.pool_level = static_cast<uint8_t>(at);
    backlog.Add(job.pool_level, job.deadline, job.estimate_ns);
  }
  Job* Pop(int at) {
    std::pop_heap(level[at].begin(), level[at].end(), Later);
    Job* const job = level[at].back();
    level[at].pop_back();
    backlog.Remove(job->pool_level, job->estimate_ns);
    return job;
  }
  // When the first of those that the last free thread does not take has waited long enough for it.
  base::TimePoint RisesAt() const {
    base::TimePoint earliest = INT64_MAX;
    for (const Job* job : level[WF_LOW]) earliest = std::min(earliest, job->queued_at + kAgeNs);
    return earliest;
  }
  // Moves up what has waited long enough.
  void Age(base::TimePoint now) {
    for (int from = 1; from < kLevels; ++from) {
      std::vector<Job*>& list = level[from];
      const auto aged = std::partition(list.begin(), list.end(),
                                       [&](const Job* job) { return job->pool_priority - (now - job->queued_at) / kAgeNs >= from; });
      if (aged == list.end()) continue;
      const std::vector<Job*> moved(aged, list.end());
      list.erase(aged, list.end());
      std::make_heap(list.begin(), list.end(), Later);
      for (Job* job : moved) {
        backlog.Remove(job->pool_level, job->estimate_ns);
        Push(from - 1, *job);
      }
    }
  }
};

WorkerPool::WorkerPool(const WorkerPoolOptions& options, const base::Clock& clock)
    : options_(options), clock_(clock), lists_(std::make_unique<Lists>(backlog_)) {
  for (std::vector<Job*>& list : lists_->level) list.reserve(1024);
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back("wf-pool", [this] { RunThread(); });
}

WorkerPool::~WorkerPool() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (base::Thread& thread : threads_) thread.Join();
}

void WorkerPool::Push(Job& job) noexcept {
  bool wakes = false;
  {
    const base::MutexLock lock(mutex_);
    lists_->Push(job.pool_priority, job);
    pending_.fetch_add(1, std::memory_order_relaxed);
    wakes = idle_ > 0;
  }
  if (wakes) work_.NotifyOne();
}

// The most urgent job that this thread may take, or null.
Job* WorkerPool::Pop() {
  const base::TimePoint now = clock_.Now();
  if (now - aged_at_ >= kLeastBetweenAges) {
    aged_at_ = now;
    lists_->Age(now);
  }
  const bool last_free = options_.threads > 1 && busy_ + 1 >= options_.threads;
  for (int level = WF_HIGH; level <= (last_free && !stopping_ ? WF_NORMAL : WF_LOW); ++level) {
    if (lists_->level[level].empty()) continue;
    pending_.fetch_sub(1, std::memory_order_relaxed);
    return lists_->Pop(level);
  }
  return nullptr;
}

// Waits without the mutex for a job to come, for a short while.
void WorkerPool::Spin() {
  const base::TimePoint until = clock_.Now() + options_.spin_ns;
  while (pending_.load(std::memory_order_relaxed) == 0 && clock_.Now() < until) sched_yield();
}

void WorkerPool::RunThread() {
  base::MutexLock lock(mutex_);
  bool spun = options_.spin_ns <= 0;
  for (;;) {
    if (Job* const job = Pop(); job != nullptr) {
      ++busy_;
      lock.Unlock();
      while (job->Step(clock_)) {
      }
      lock.Lock();
      --busy_;
      spun = options_.spin_ns <= 0;
      if (idle_ > 0 && !lists_->level[WF_LOW].empty()) work_.NotifyOne();  // `low` may run again
    } else if (stopping_) {
      return;
    } else if (!spun) {
      lock.Unlock();
      Spin();
      lock.Lock();
      spun = true;
    } else {
      ++idle_;
      if (lists_->level[WF_LOW].empty())
        work_.Wait(mutex_);
      else
        work_.WaitUntil(mutex_, std::max(lists_->RisesAt(), aged_at_ + kLeastBetweenAges));
      --idle_;
      spun = options_.spin_ns <= 0;
    }
  }
}

}  // namespace wf::sched
