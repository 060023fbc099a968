#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "runtime/batch/policy.h"

namespace wf::batch {

// What a batcher has counted. Any thread adds and reads; relaxed, so sums may lag by a batch.
struct BatchStats {
  static constexpr int kSizeBuckets = 12;  // bucket b: batches of up to 2^b rows

  std::atomic<uint64_t> rows{0};
  std::atomic<uint64_t> closed[kCloseReasons] = {};
  std::atomic<uint64_t> size_bucket[kSizeBuckets] = {};

  void AddBatch(int count, CloseReason reason) {
    rows.fetch_add(static_cast<uint64_t>(count), std::memory_order_relaxed);
    closed[static_cast<int>(reason)].fetch_add(1, std::memory_order_relaxed);
    const int bucket = std::bit_width(static_cast<unsigned>(count - 1));
    size_bucket[bucket < kSizeBuckets ? bucket : kSizeBuckets - 1].fetch_add(1, std::memory_order_relaxed);
  }
  void Add(const BatchStats& other) {
    const auto add = [](std::atomic<uint64_t>& to, const std::atomic<uint64_t>& from) {
      to.fetch_add(from.load(std::memory_order_relaxed), std::memory_order_relaxed);
    };
    add(rows, other.rows);
    for (int i = 0; i < kCloseReasons; ++i) add(closed[i], other.closed[i]);
    for (int i = 0; i < kSizeBuckets; ++i) add(size_bucket[i], other.size_bucket[i]);
  }
  uint64_t batches() const {
    uint64_t sum = 0;
    for (const auto& count : closed) sum += count.load(std::memory_order_relaxed);
    return sum;
  }
};

}  // namespace wf::batch
