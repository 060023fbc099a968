#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "runtime/batch/policy.h"

namespace wf::batch {

// What a batcher has counted. Any thread adds and reads; relaxed, so sums may lag by a batch.
struct BatchStats {
  static constexpr int kSizeBuckets = 12;  // bucket b: batches of up to 2^b rows
  static constexpr int kWaitBuckets = 40;  // bucket b: waits below 2^b ns

  std::atomic<uint64_t> batches{0}, rows{0}, padding_rows{0}, failed_batches{0}, run_ns{0}, wait_ns{0};
  std::atomic<uint64_t> expired_rows{0}, withdrawn_rows{0}, refused_rows{0};
  std::atomic<uint64_t> closed[kCloseReasons] = {};
  std::atomic<uint64_t> size_bucket[kSizeBuckets] = {};
  std::atomic<uint64_t> wait_bucket[kWaitBuckets] = {};

  void AddBatch(int count, CloseReason reason) {
    batches.fetch_add(1, std::memory_order_relaxed);
    rows.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
    closed[static_cast<int>(reason)].fetch_add(1, std::memory_order_relaxed);
    const int bucket = std::bit_width(static_cast<unsigned>(count - 1));
    size_bucket[bucket < kSizeBuckets ? bucket : kSizeBuckets - 1].fetch_add(1, std::memory_order_relaxed);
  }
  void AddWait(int64_t ns) {
    const uint64_t span = ns < 0 ? 0 : static_cast<uint64_t>(ns);
    const int width = std::bit_width(span);
    wait_ns.fetch_add(span, std::memory_order_relaxed);
    wait_bucket[width < kWaitBuckets ? width : kWaitBuckets - 1].fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace wf::batch
