#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"

namespace wf::kernels {

// Threads that help one other, the leader, with the parts of a kernel (tiles.h). Between two kernels they spin a moment, then sleep.
// Thread: Run by one at a time, the leader.   Owns: its threads.   Bounds: where the system gives none the leader does all.
// Cost: Run allocates nothing.
class Team {
 public:
  explicit Team(int helpers);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Calls part(data, i) for each i below `count`, by whoever is free, and returns when all have returned.
  using Part = void (*)(void* data, int i);
  void Run(int count, Part part, void* data);

 private:
  struct Job {
    Part part = nullptr;
    void* data = nullptr;
    int count = 0;
  };
  void Help();
  void TakeParts(const Job& job);
  bool Wait(uint64_t seen);  // for another job than that of this number; false: it is over

  std::atomic<uint64_t> jobs_{0};  // given so far
  std::atomic<int> next_{0};       // part of the latest
  std::atomic<bool> ends_{false};
  base::Mutex mutex_;
  base::Condition given_, left_;
  Job job_ WF_GUARDED_BY(mutex_);         // part is null: there is none
  int inside_ WF_GUARDED_BY(mutex_) = 0;  // helpers in the job
  std::vector<base::Thread> threads_;
};

// While it lives, kernels that this thread runs are helped by the team; null: by nobody.
class TeamScope {
 public:
  explicit TeamScope(Team* team);
  ~TeamScope();
  TeamScope(const TeamScope&) = delete;
  TeamScope& operator=(const TeamScope&) = delete;

 private:
  Team* const before_;
};
Team* TeamOfThread();

}  // namespace wf::kernels
