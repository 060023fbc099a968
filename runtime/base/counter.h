#pragma once

#include <atomic>
#include <cstdint>

namespace wf::base {

// A number that one thread changes and others read.
// Thread: one writer, many readers.   Cost: no lock, no fence.
class Counter {
 public:
  void Add(uint64_t n = 1) noexcept { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  void Subtract(uint64_t n = 1) noexcept { value_.store(value_.load(std::memory_order_relaxed) - n, std::memory_order_relaxed); }
  void Set(uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
  uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace wf::base
