#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "runtime/abi/plan.h"

namespace wf::sched {

// A count that one thread raises and others read.
class Counter {
 public:
  void Add(uint64_t n = 1) noexcept { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

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

// What one loop has counted. Written by its loop without a lock or an allocation, read by the admin thread at any time.
// Thread: one writer, many readers.
struct EngineStats {
  explicit EngineStats(const wf_plan& plan)
      : node_compute(new DurationHistogram[plan.n_nodes]),
        queue_wait(new DurationHistogram[plan.n_nodes]),
        stage(new DurationHistogram[plan.n_stages]) {}

  Counter created, answered, failed, cancelled, drained, refused_rows;
  std::unique_ptr<DurationHistogram[]> node_compute;  // by node: its tasks of one instance, for a model's row the run of its batch
  std::unique_ptr<DurationHistogram[]> queue_wait;    // by node: of its rows
  std::unique_ptr<DurationHistogram[]> stage;         // by stage: first start to last end within a request; sampled (EngineOptions)
};

}  // namespace wf::sched
