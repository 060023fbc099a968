#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/batch/backlog.h"
#include "runtime/batch/cost.h"
#include "runtime/batch/policy.h"
#include "runtime/batch/row.h"
#include "runtime/batch/runnable.h"
#include "runtime/batch/sorts.h"
#include "runtime/batch/stats.h"

namespace wf::batch {

class Executor;

struct BatcherOptions {
  Runnable* model = nullptr;
  PolicyOptions policy;    // max_rows is cut to the model's
  int first_instance = 0;  // instances first_instance .. first_instance + instances - 1 of the model are this batcher's
  int instances = 1;
  int measuring_instance = -1;  // of the model; its runs are measured before there are requests. -1: t(B) is learned from requests alone
};

enum class Withdrawal : uint8_t {
  kUnlinked,      // it waited; it is the caller's again, credit returned
  kNotSubmitted,  // whoever submits it will be refused
  kTaken,         // it runs, and will be delivered
};

// The door of one queue of rows: those of all requests and nodes with the same model, device, precision and batching settings.
// Thread: thread-safe.   Owns: policy, t(B), statistics.   Borrows: model, executor (its maker).
// Errors: Reserve is false when the queue is full: an answer, not a wait.
// Bounds: max_queued_rows credits.   Cost: Reserve one atomic; Submit and Withdraw the executor's mutex, O(1).
class Batcher {
 public:
  Batcher(Executor& executor, const BatcherOptions& options, const base::Clock& clock);

  // A credit for one row, whose priority and deadline are set, taken before the work that produces it; given back when the row is taken or
  // withdrawn, or by Unreserve.
  [[nodiscard]] bool Reserve(Row& row) noexcept;
  void Unreserve(Row& row) noexcept;
  // Queues a row that has a credit. False: it was withdrawn meanwhile; it stays with the caller.
  [[nodiscard]] bool Submit(Row& row) noexcept;
  // The same, of a caller that goes on to Executor::RunShort: nobody is woken for it.
  [[nodiscard]] bool SubmitQuietly(Row& row) noexcept;
  Withdrawal Withdraw(Row& row) noexcept;

  Executor& executor() const { return executor_; }
  Runnable& model() const { return *options_.model; }
  const BatcherOptions& options() const { return options_; }
  const Padding& padding() const { return options_.policy.padding; }
  const Sorts& sorts() const { return sorts_; }
  CostCurve& cost(size_t sort = 0) { return costs_[sort]; }
  const CostCurve& cost(size_t sort = 0) const { return costs_[sort]; }
  // Of the rows that ran last, where their sizes are apart; else the first.
  const CostCurve& recent_cost() const { return costs_[sorts_.by_size() ? recent_sort_.load(std::memory_order_relaxed) : 0]; }
  const BatchStats& stats() const { return stats_; }
  struct Outlook {
    int64_t wait_ns = 0, run_ns = 0;  // 0: none, or not known
  };
  // What a row of this class and deadline that came now would wait at least for those before it, by t(B) as learned, and then run. `own`:
  // rows before it that do not count.
  Outlook OutlookOf(uint8_t priority, base::TimePoint deadline, int64_t own = 0) const;
  int queued_rows() const { return credits_.load(std::memory_order_relaxed); }
  // Running on the loop costs less than what a batch would save. False where a request decides on extents: what is known of one shape says
  // nothing of the next.
  bool inline_pays() const { return inline_pays_.load(std::memory_order_relaxed); }
  // What a run of the best size takes, by the dearest sort of row; INT64_MAX where that is not known, or where a request decides on
  // extents.
  int64_t run_ns() const { return run_ns_.load(std::memory_order_relaxed); }
  // Begins with the t(B) of another one of the same model and padding. REQUIRES: no row was submitted yet.
  void LearnFrom(const Batcher& other);
  // Rows share runs from now on, or do not, by what is known of the model's. On any thread.
  void HeedRows();
  // One row of this sort took `ns` on a loop.
  void LearnRunOnLoop(size_t sort, int64_t ns);
  // The inputs of a run of rows of a kind, as Padding counts them, without data; nothing when the file leaves an extent open.
  std::vector<wf_tensor> InputsOf(size_t kind, int64_t size) const;

 private:
  friend class Executor;
  friend class Preparer;
  Executor& executor_;
  const BatcherOptions options_;
  const bool fixed_shapes_;
  const Sorts sorts_;
  std::deque<CostCurve> costs_;  // by sort of row
  Policy policy_;                // guarded by the executor's mutex
  uint64_t idle_instances_;      // bit set; guarded by the executor's mutex
  std::vector<uint64_t>
      seen_sizes_;  // per instance and sort of row, bit set by log2 of the size; touched by the thread that holds the instance
  std::atomic<int> credits_{0};
  Backlog backlog_;  // in rows that hold a credit
  void UpdateCosts();
  void Meet(size_t sort);
  std::atomic<bool> inline_pays_{false};
  std::atomic<size_t> recent_sort_{0};
  std::atomic<int64_t> run_ns_{INT64_MAX};
  std::atomic<int64_t> row_ns_{0}, alone_ns_{0};  // of the cheapest sort: a row of a run of the best size, a run of one
  BatchStats stats_;
};

}  // namespace wf::batch
