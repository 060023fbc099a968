#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/timer.h"
#include "runtime/bus/bus.h"
#include "runtime/bus/plan_index.h"

namespace wf::bus {

struct Entry;

// Work of an instance that is under way on another thread: a strand or a row. sched::Job is one.
struct Flight {
  Flight* previous_flight = nullptr;
  Flight* next_flight = nullptr;
  struct Instance* instance = nullptr;
};

// A region entered once: its frame, its channels, and what is under way in it.
// Lives in the arena of its bus, followed in the same block by the frame pointers, the channels and the frame.
// Thread: loop-confined.
struct Instance {
  Bus* bus = nullptr;
  Instance* parent = nullptr;        // enclosing instance
  Entry* entered = nullptr;          // the entry of the parent that made it; null for a root
  Instance* next_sibling = nullptr;  // of the same entry
  Instance* previous_sibling = nullptr;
  Entry* entries = nullptr;  // regions that its own tasks have entered and that have not ended
  Flight* flights = nullptr;
  uint64_t element = 0;      // index within a fan-out; of a root the sample
  uint32_t out_flights = 0;  // flights of this instance and of those inside
  uint32_t generation = 0;   // of a reused block: what was queued for an earlier use is void
  uint16_t region = 0;
  uint16_t unsettled = 0;  // tasks that have neither ended nor been skipped
  bool done = false;       // ended or abandoned: starts nothing any more
  std::byte* frame = nullptr;
  Channel* channels = nullptr;  // by slot - first_slot
  int64_t* spent_ns = nullptr;  // so far, by the nodes that are several tasks of the region
  void* frames[1];              // own, then the enclosing ones: depth + 1 pointers

  uint16_t* countdowns() { return reinterpret_cast<uint16_t*>(frame); }
};

struct EntryTimer : base::TimerNode {
  Entry* entry = nullptr;
};

// An ENTER, SELECT or EACH under way. Lives in the arena.
struct Entry {
  Instance* parent = nullptr;  // in which the task stands
  Entry* previous = nullptr;
  Entry* next = nullptr;
  Instance* children = nullptr;    // live instances
  EntryTimer timer;                // ENTER: its timeout
  EntryTimer back_off;             // ENTER: before the next attempt
  const Failure* cause = nullptr;  // ENTER in its fallback: what it catches; EACH: of the first failed element so far
  std::byte* results = nullptr;    // EACH
  Instance* idle = nullptr;        // EACH: blocks to be used again, linked by next_sibling
  uint64_t count = 0, next_element = 0, settled = 0, failed_at = 0;  // EACH
  uint32_t running = 0;                                              // EACH: elements
  uint16_t task = WF_NONE, region = WF_NONE;
  uint16_t attempts_left = 0, attempt = 0;
  Entry *previous_waiting = nullptr, *next_waiting = nullptr;  // EACH: with others for the loop to have time
  bool waits_for_turn = false;
  bool timed_out = false;
  bool closed = false;
};

}  // namespace wf::bus
