#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/batch/batcher.h"
#include "runtime/bus/instance.h"

namespace wf::sched {

// What a loop has done since it last looked at its sockets (loop::Turn), and what it puts off to later turns.
// Thread: loop-confined.   Borrows: entries, each until it is removed, which closing it does; an executor, which outlives the loop.
// Errors: none.   Bounds: none of its own; as many fan-outs as admitted requests have begun.   Cost: O(1), no allocation.
class TurnWork {
 public:
  int64_t spent_ns = 0;                 // by what ran on the loop itself
  bool is_new = true;                   // what was put off has not had its share yet
  batch::Executor* own_rows = nullptr;  // that has rows of this loop, which nobody was woken for

  // Nothing more is begun on the loop that others wait behind. Below 0 counts as 0.
  bool is_spent(int64_t limit_ns) const { return spent_ns > std::max<int64_t>(limit_ns, 0); }

  // Fan-outs with elements that are to begin when there is time again, in the order in which they came.
  bus::Entry* first() const { return first_; }
  void Add(bus::Entry& entry) noexcept {
    entry.waits_for_turn = true;
    entry.previous_waiting = last_;
    entry.next_waiting = nullptr;
    (last_ == nullptr ? first_ : last_->next_waiting) = &entry;
    last_ = &entry;
  }
  void Remove(bus::Entry& entry) noexcept {
    if (!entry.waits_for_turn) return;
    entry.waits_for_turn = false;
    (entry.previous_waiting == nullptr ? first_ : entry.previous_waiting->next_waiting) = entry.next_waiting;
    (entry.next_waiting == nullptr ? last_ : entry.next_waiting->previous_waiting) = entry.previous_waiting;
  }

 private:
  bus::Entry *first_ = nullptr, *last_ = nullptr;
};

}  // namespace wf::sched
