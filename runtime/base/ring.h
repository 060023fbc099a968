#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace wf::base {

// Records on their way from one thread to another. What finds no room is dropped and counted.
// Thread: Put by one thread, Take and Skip by one other at a time, the rest by any.   Bounds: `size` records.   Cost: no lock, no wait, no
// allocation.
template <typename Record, size_t size>
class Ring {
 public:
  void Put(const Record& record) noexcept {
    const uint64_t at = written_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == size) return Drop();
    records_[at % size] = record;
    written_.store(at + 1, std::memory_order_release);
  }
  void Drop() noexcept { dropped_.store(dropped() + 1, std::memory_order_relaxed); }  // by the writer

  // Calls take(record) for the oldest ones while it answers true.
  template <typename Function>
  void Take(Function&& take) noexcept {
    const uint64_t end = written_.load(std::memory_order_acquire);
    uint64_t at = read_.load(std::memory_order_relaxed);
    while (at != end && take(records_[at % size])) ++at;
    read_.store(at, std::memory_order_release);
  }
  void Skip() noexcept {
    Take([](const Record&) { return true; });
  }

  size_t held() const noexcept {  // about as many
    const uint64_t read = read_.load(std::memory_order_relaxed);
    return static_cast<size_t>(written_.load(std::memory_order_relaxed) - read);
  }
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> written_{0}, read_{0}, dropped_{0};
  std::array<Record, size> records_;
};

}  // namespace wf::base
