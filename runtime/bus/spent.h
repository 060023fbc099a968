#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/base/clock.h"

namespace wf::bus {

// What of a request's time its body was read, its rows waited, its nodes ran and its answer was written. Each moment counts once at most,
// for what was told first: all together are never more than the request has taken, however many rows and samples are under way at once.
// Rejected: the union of all waits, which takes a list of them; sums, which are many times what the client waited for.
// Besides, which runs of batches its rows had part in, by their size.
// Thread: loop-confined.   Units: ns.   Cost: O(1), no allocation.
class Spent {
 public:
  // Of runs of so many rows, what the request's own come to: each row has an equal part in its run.
  struct Runs {
    uint32_t batch_rows = 0;  // 0: none; in the last of all: of several sizes
    uint32_t rows = 0;        // the request's
    double count = 0, ns = 0;
  };
  static constexpr int kSizes = 4;

  explicit Spent(base::TimePoint at = 0) : until_(at) {}

  void TakePart(uint32_t batch_rows, int64_t run_ns) {
    Runs* const end = runs_ + kSizes;
    Runs* runs = std::find_if(runs_, end, [batch_rows](const Runs& at) { return at.batch_rows == batch_rows || at.rows == 0; });
    if (runs == end) (--runs)->batch_rows = 0;
    if (runs->rows == 0) runs->batch_rows = batch_rows;
    ++runs->rows;
    runs->count += 1.0 / batch_rows;
    runs->ns += static_cast<double>(run_ns) / batch_rows;
  }
  // Calls visit(runs) for each size.
  template <typename Visit>
  void ForRuns(Visit&& visit) const {
    for (const Runs& runs : runs_)
      if (runs.rows != 0) visit(runs);
  }

  void Read(base::TimePoint to) { input_ns_ += Take(until_, to); }  // from the time it begins with
  void Wait(base::TimePoint from, base::TimePoint to) { queue_ns_ += Take(from, to); }
  void Run(base::TimePoint from, base::TimePoint to) { compute_ns_ += Take(from, to); }
  void Write(base::TimePoint from, base::TimePoint to) { output_ns_ += Take(from, to); }
  int64_t input_ns() const { return input_ns_; }
  int64_t queue_ns() const { return queue_ns_; }
  int64_t compute_ns() const { return compute_ns_; }
  int64_t output_ns() const { return output_ns_; }

 private:
  int64_t Take(base::TimePoint from, base::TimePoint to) {
    const int64_t taken = std::max<int64_t>(to - std::max(from, until_), 0);
    until_ = std::max(until_, to);
    return taken;
  }

  base::TimePoint until_;  // all before is counted, or was spent otherwise
  int64_t input_ns_ = 0, queue_ns_ = 0, compute_ns_ = 0, output_ns_ = 0;
  Runs runs_[kSizes];
};

}  // namespace wf::bus
