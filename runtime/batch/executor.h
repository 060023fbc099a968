#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/batch/batcher.h"
#include "runtime/batch/preparer.h"
#include "runtime/batch/staging.h"

namespace wf::batch {

struct ExecutorOptions {
  int threads = 1;  // 0: the caller drives Take, Run and Finish itself (simulation)
};

// A batch that has been closed and given an instance.
struct Work {
  Batcher* batcher = nullptr;
  int instance = 0;  // of the batcher, from 0
  Closed closed;
  int64_t size = 0;  // rows of the run, padding included
  size_t sort = 0;   // of its rows
  base::TimePoint started_at = 0;
  int64_t spent_at_start_ns = 0;  // SpentNs of the thread
  Staging* staging = nullptr;
  base::Status status;
};

// The threads of one device, and the batchers that they serve. Idle instances pull: a batch is closed only when an instance can run it.
// Thread: thread-safe.   Owns: batchers, their staging blocks, threads.   Borrows: clock, models.
// Errors: rows of a failed run run again in halves; those that fail alone fail with 9000 and the model's message.
// Bounds: one block per port and instance, of max_rows rows.   Cost: per batch two holds of the mutex, a copy of its rows in and out.
class Executor {
 public:
  Executor(const ExecutorOptions& options, const base::Clock& clock);
  ~Executor();  // runs what waits, then joins. REQUIRES: nobody submits any more
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  Batcher& AddBatcher(const BatcherOptions& options);
  // Takes one away, and the memory of its instances with it. False: one of them is being made ready; ask again.
  // REQUIRES: every row of it is delivered or withdrawn, and nobody submits any more.
  [[nodiscard]] bool RemoveBatcher(Batcher& batcher);
  // Makes ready, at low priority and on a thread of its own, what batches of all sizes of the batchers added so far will need; of those
  // that are added later, too, once Prepare was called for them.
  void StartPreparing();
  void Prepare(Batcher& batcher);
  // No more of it. False: it is in the middle of a run that has not ended by then, for which the destructor would wait.
  [[nodiscard]] bool StopPreparing(base::TimePoint by);

  void BeginDrain();  // rows that wait for company run, and those that come later do not wait

  // The loop of an executor's thread, in steps. Take: the next batch, or nothing to do before NextDecisionAt (also woken by Submit).
  std::optional<Work> Take();
  void Run(Work& work);     // gathers, runs
  void Finish(Work& work);  // scatters, learns, delivers; frees the instance
  std::optional<base::TimePoint> NextDecisionAt();

  int threads() const { return options_.threads; }

 private:
  friend class Batcher;
  friend class Preparer;
  std::vector<Batcher*> Batchers();
  bool Borrow(Batcher& batcher, int instance);  // false: it runs. An instance that is borrowed takes no batch
  void GiveBack(Batcher& batcher, int instance);
  void RunThread();
  void RunAndFinish(Work& work);
  std::optional<Work> TakeLocked() WF_REQUIRES(mutex_);
  Work Begin(size_t batcher, const Closed& closed) WF_REQUIRES(mutex_);
  uint8_t LowestLevel(int busy) const WF_REQUIRES(mutex_);
  std::optional<base::TimePoint> NextDecisionLocked(uint8_t lowest) const WF_REQUIRES(mutex_);
  static int64_t SizeFor(const Batcher& batcher, const RowList& rows);
  static base::Status RunRows(Work& work, const RowList& rows, int64_t size);
  static void RunInHalves(Work& work, RowList rows, const base::Status& failure);
  static void Learn(const Work& work, int64_t spent_ns);
  void Deliver(RowList& rows);
  bool SubmitRow(Batcher& batcher, Row& row) noexcept;
  Withdrawal WithdrawRow(Batcher& batcher, Row& row) noexcept;

  const ExecutorOptions options_;
  const base::Clock& clock_;
  base::Mutex mutex_;  // also guards the batchers' policies, idle instances, and the state of rows
  base::Condition work_;
  std::vector<std::unique_ptr<Batcher>> batchers_ WF_GUARDED_BY(mutex_);
  std::vector<std::vector<std::unique_ptr<Staging>>> staging_ WF_GUARDED_BY(mutex_);  // by batcher, by instance
  int idle_threads_ WF_GUARDED_BY(mutex_) = 0, busy_threads_ WF_GUARDED_BY(mutex_) = 0;
  bool stopping_ WF_GUARDED_BY(mutex_) = false;
  std::vector<base::Thread> threads_;
  std::unique_ptr<Preparer> preparer_;
};

}  // namespace wf::batch
