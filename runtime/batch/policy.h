#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/batch/cost.h"
#include "runtime/batch/padding.h"
#include "runtime/batch/row.h"
#include "runtime/batch/sorts.h"

namespace wf::batch {

struct PolicyOptions {
  int64_t max_rows = 32;      // rows that one run may take
  int max_queued_rows = 256;  // rows with a credit; one more is refused
  Padding padding;
};

// Why a batch was closed; exported as the label of wf_batch_close_total.
enum class CloseReason : uint8_t { kFull, kDelay, kIdle, kDeadline, kDrain };
inline constexpr int kCloseReasons = 5;
const char* CloseReasonName(CloseReason reason);  // "full"

// Rows linked by next, oldest first.
struct RowList {
  Row* first = nullptr;
  Row* last = nullptr;
  int count = 0;
  void Append(Row& row);
  void Remove(Row& row);
};

struct Closed {
  RowList rows;     // in the order in which they run; empty only when `expired` is not
  RowList expired;  // past their deadline: to be failed, not run
  CloseReason reason = CloseReason::kIdle;
};

// Decides which waiting rows run together, and when. Holds no thread, timer or lock: the executor asks, and sleeps until NextDecisionAt().
// Only rows of one group run together: equal shapes after padding, and equal bytes of the inputs that have no batch axis. A row that is
// longer than every bucket is a group of one. Inside a group the higher priority goes first, then the earlier deadline; a row rises one
// priority per 100 ms waited.
// Thread: called under the executor's mutex.   Owns: groups; rows stay with their requests.   Borrows: clock, cost.
// Bounds: rows are bounded by credits; a row waits at most its delay plus the runs before it.
// Cost: Prepare O(bytes without a batch axis), Add the same once, with those of the rows that it joins; Add and Withdraw else O(1) unless
// deadlines differ, and O(groups with rows); Close O(rows waiting).
class Policy {
 public:
  // costs: one per sort of row.
  Policy(const PolicyOptions& options, const Sorts& sorts, const wf_model& model, const std::deque<CostCurve>& costs,
         const base::Clock& clock);
  ~Policy();

  // What is to be found out about a row before it is added. On any thread, without the mutex.
  void Prepare(Row& row) const;
  // `row` waits from now on. REQUIRES: it is prepared.
  void Add(Row& row);
  // Takes back a row that has not been taken yet.
  void Withdraw(Row& row);
  // The batch to run now, or nothing. Ask when an instance is idle.
  [[nodiscard]] std::optional<Closed> Close();
  // From now on no row waits for company.
  void Drain() { draining_ = true; }

  // When Close may answer differently without a new row, of those that have risen to `lowest` by then; nothing while no row waits. In the
  // past: ask now. O(groups), and O(rows) of those that have yet to rise.
  [[nodiscard]] std::optional<base::TimePoint> NextDecisionAt(uint8_t lowest = WF_LOW) const;
  // Raises rows by how long they have waited, at most once a millisecond.
  void Age();
  // The most urgent row of what Close would take from, by its priority as of the last Age and then its deadline; null: nothing is due.
  const Row* DueHead() const;
  int waiting() const { return waiting_; }

 private:
  static constexpr size_t kGroupsAtFirst = 16;
  Group& GroupOf(const Row& row);
  Group& Begin(uint64_t key);
  void End(Group& group);
  uint64_t KeyOf(const Row& row) const;
  std::span<const std::unique_ptr<Group>> Waiting() const { return {groups_.data(), keys_.size()}; }
  base::TimePoint ClosesAt(const Group& group) const;
  const Row* FirstToClose(const Group& group) const;
  bool IsDue(const Group& group, base::TimePoint now) const;
  Group* MostUrgentDue() const;
  base::TimePoint RisesAt(const Group& group, uint8_t level) const;
  CloseReason ReasonToClose(const Group& group, base::TimePoint now) const;
  base::TimePoint RowClosesAt(const Row& row) const;
  bool MayShare(const Row& a, const Row& b) const;
  int64_t BestRows(const Group& group) const;

  const PolicyOptions options_;
  const Sorts& sorts_;
  const wf_model& model_;
  const std::deque<CostCurve>& costs_;
  const base::Clock& clock_;
  std::vector<std::unique_ptr<Group>> groups_;  // those with rows, then those that are kept for reuse
  std::vector<uint64_t> keys_;                  // of the groups with rows, side by side for the search
  base::TimePoint aged_at_ = INT64_MIN / 2;
  int waiting_ = 0;
  bool draining_ = false;
};

}  // namespace wf::batch
