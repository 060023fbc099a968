#include "runtime/kernels/team.h"

#include <immintrin.h>

#include "runtime/base/clock.h"
#include "runtime/kernels/operation.h"

namespace wf::kernels {
namespace {

constexpr int64_t kSpinNs = 100'000;  // steps of a run that are not shared are mostly shorter
constexpr int kPausesOfClock = 64;    // between two looks at the clock

thread_local Team* team_of_thread = nullptr;

}  // namespace

Team::Team(int helpers) {
  for (int i = 0; i < helpers; ++i) {
    base::Thread thread;
    if (thread.TryStart("wf-team", [this] { Help(); })) threads_.push_back(std::move(thread));
  }
}

Team::~Team() {
  {
    const base::MutexLock lock(mutex_);
    ends_.store(true, std::memory_order_release);
  }
  given_.NotifyAll();
  for (base::Thread& thread : threads_) thread.Join();
}

void Team::Run(int count, Part part, void* data) {
  const Job job{part, data, count};
  {
    const base::MutexLock lock(mutex_);
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    jobs_.fetch_add(1, std::memory_order_release);
  }
  given_.NotifyAll();
  TakeParts(job);
  const base::MutexLock lock(mutex_);
  job_ = {};  // who comes now finds nothing
  while (inside_ > 0) left_.Wait(mutex_);
}

void Team::TakeParts(const Job& job) {
  for (int i = next_.fetch_add(1, std::memory_order_relaxed); i < job.count; i = next_.fetch_add(1, std::memory_order_relaxed))
    job.part(job.data, i);
}

void Team::Help() {
  UseOneThread();
  for (uint64_t seen = 0; Wait(seen);) {
    Job job;
    {
      const base::MutexLock lock(mutex_);
      seen = jobs_.load(std::memory_order_relaxed);
      job = job_;
      if (job.part == nullptr) continue;
      ++inside_;
    }
    TakeParts(job);
    const base::MutexLock lock(mutex_);
    if (--inside_ == 0) left_.NotifyOne();
  }
}

bool Team::Wait(uint64_t seen) {
  const base::SystemClock clock;
  const auto is_there = [&] { return jobs_.load(std::memory_order_acquire) != seen || ends_.load(std::memory_order_acquire); };
  for (const base::TimePoint end = clock.Now() + kSpinNs; !is_there() && clock.Now() < end;) {
    for (int i = 0; i < kPausesOfClock && !is_there(); ++i) _mm_pause();
  }
  const base::MutexLock lock(mutex_);
  while (!is_there()) given_.Wait(mutex_);
  return !ends_.load(std::memory_order_acquire);
}

TeamScope::TeamScope(Team* team) : before_(team_of_thread) { team_of_thread = team; }
TeamScope::~TeamScope() { team_of_thread = before_; }
Team* TeamOfThread() { return team_of_thread; }

}  // namespace wf::kernels
