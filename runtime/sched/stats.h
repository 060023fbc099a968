#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "runtime/abi/plan.h"
#include "runtime/base/counter.h"

namespace wf::sched {

using base::Counter;

// Durations by powers of two: bucket b holds those below 2^b ns, and not below 2^(b-1).
struct DurationHistogram {
  static constexpr int kBuckets = 40;
  Counter count, sum_ns, bucket[kBuckets];

  void Add(int64_t ns) noexcept {
    const uint64_t span = ns < 0 ? 0 : static_cast<uint64_t>(ns);
    const int width = std::bit_width(span);
    count.Add();
    sum_ns.Add(span);
    bucket[width < kBuckets ? width : kBuckets - 1].Add();
  }
};

// Why a task runs where it does. Up to kOnLoop on the loop, up to kOnPool on the pool, behind it in a batch.
enum class Placement : uint8_t {
  kFits,      // done soon enough for the loop
  kToldLoop,  // the setting says so
  kOnLoop = kToldLoop,
  kTooLong,
  kBarred,   // it held a loop up lately
  kMoved,    // it was running on the loop for too long, and was begun anew
  kTurn,     // its loop had done enough since it last looked at its sockets
  kBlocks,   // what it calls may wait
  kFollows,  // the task before it, in one strand
  kToldPool,
  kOnPool = kToldPool,
  kRow,  // of a model that is not run by the loop
};
inline constexpr int kPlacements = static_cast<int>(Placement::kRow) + 1;

struct TaskStats {
  Counter runs[kPlacements];  // those that began to run, not those that were refused or given up before
  std::atomic<int64_t> estimate_ns{0};
  std::atomic<Placement> last{Placement::kFits};

  // Where it is about to run, if it does.
  void Place(Placement where, int64_t estimate) noexcept {
    estimate_ns.store(estimate, std::memory_order_relaxed);
    last.store(where, std::memory_order_relaxed);
  }
  void CountRun(Placement where) noexcept { runs[static_cast<int>(where)].Add(); }
  bool runs_on_pool() const noexcept {
    const Placement where = last.load(std::memory_order_relaxed);
    return where > Placement::kOnLoop && where <= Placement::kOnPool;
  }
  uint64_t count() const noexcept {
    uint64_t sum = 0;
    for (const Counter& part : runs) sum += part.value();
    return sum;
  }
};

// What one loop has counted. Written by its loop without a lock or an allocation, read by the admin thread at any time.
// Thread: one writer, many readers.
struct EngineStats {
  explicit EngineStats(const wf_plan& plan)
      : node_compute(new DurationHistogram[plan.n_nodes]),
        queue_wait(new DurationHistogram[plan.n_nodes]),
        stage(new DurationHistogram[plan.n_stages]),
        task(new TaskStats[plan.n_tasks]) {}

  Counter created, answered, failed, cancelled, drained;
  Counter refused_full, refused_late;  // requests of which a full queue, or the wait there, refused something; each once, for the first
  std::unique_ptr<DurationHistogram[]> node_compute;  // by node: its tasks of one instance, for a model's row the run of its batch
  std::unique_ptr<DurationHistogram[]> queue_wait;    // by node: of its rows, to run or not
  std::unique_ptr<DurationHistogram[]> stage;         // by stage: first start to last end within a request; sampled (EngineOptions)
  std::unique_ptr<TaskStats[]> task;                  // by task: RUN and MODEL
};

}  // namespace wf::sched
