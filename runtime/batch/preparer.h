#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/batch/batcher.h"

namespace wf::batch {

class Executor;

// Finds out first whether rows that share a run are computed apart: until then, and where they are not, each runs alone. Makes ready then
// what batches of every size will need, so that no request waits for a plan, and measures t(B) before there are requests. Only
// where shapes are known: axes that the file leaves open are padded to buckets. What an instance needs is made while the instance is idle;
// t(B) is measured in an instance that serves nobody, by what the thread works: it is the last to get a CPU.
// Thread: a thread of its own, at low priority once rows are checked, or whoever calls Step.   Borrows: executor, clock.
// Errors: a shape that cannot be made ready is left to the request that has it, whose answer will say why.
// Bounds: an instance is held while it binds a plan that exists; a measurement takes at most 20 runs or 20 ms and one run, and ends with
// the run under way once it is to stop; its memory is given back with the last.
class Preparer {
 public:
  Preparer(Executor& executor, const base::Clock& clock);  // for the batchers that the executor has now
  ~Preparer();                                             // after the step under way
  Preparer(const Preparer&) = delete;
  Preparer& operator=(const Preparer&) = delete;

  void Start();
  void Stop();  // what is left is left; the thread ends with the run under way. On any thread, waits for nothing
  // After Start and Stop. False: the run under way has not ended by then, which may take long where others want the CPU.
  [[nodiscard]] bool EndsBy(base::TimePoint at);
  void Add(Batcher& batcher);  // what is left is done, and then this. On any thread
  // Nothing more of the batcher is done. False: a step of it is under way; ask again. On any thread.
  [[nodiscard]] bool Forget(const Batcher& batcher);

  // One piece of what is left, on one thread. kBusy: each instance that is left runs just now.
  enum class Progress { kMade, kBusy, kDone };
  Progress Step();

 private:
  enum class What : uint8_t { kCheckRows, kPlan, kMeasure, kBind };
  struct Piece {
    Batcher* batcher;
    What what;
    size_t kind = 0;
    int64_t size = 0;
    int instance = 0;   // of the batcher, to bind
    bool last = false;  // of the batcher: its instance for measurements is done with, even where the load has measured all
  };
  static void AddTo(std::deque<Piece>* pieces, Batcher& batcher);
  bool Make(const Piece& piece);  // false: its instance runs
  bool ChecksNext();
  void MakePlan(const Piece& piece, std::span<const wf_tensor> inputs);
  void Measure(const Piece& piece, std::vector<wf_tensor>& inputs);
  int64_t BestRunNs(const Piece& piece, std::span<const wf_tensor> inputs);  // 0: a run failed, or none was wanted any more
  void RunThread();

  Executor& executor_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  base::Condition news_;
  std::deque<Piece> pieces_ WF_GUARDED_BY(mutex_);
  const Batcher* under_way_ WF_GUARDED_BY(mutex_) = nullptr;
  bool ended_ WF_GUARDED_BY(mutex_) = false;
  std::atomic<bool> stopping_{false};  // written under the mutex
  base::Thread thread_;
};

}  // namespace wf::batch
