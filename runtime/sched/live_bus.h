#pragma once

#include <vector>

#include "runtime/base/timer.h"
#include "runtime/batch/row.h"
#include "runtime/bus/bus.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/failures.h"

namespace wf::sched {

class EngineCore;
struct LiveBus;

struct DeadlineTimer : base::TimerNode {
  LiveBus* bus = nullptr;
};

// A model call that waits for its request's earlier rows to leave the full queue.
struct Parked {
  bus::Instance* instance;
  uint32_t generation;
  uint16_t task;
  Parked* next;
};

// How many rows of a request are in a queue or a run of each batcher.
// Thread: loop-confined.   Borrows: batchers with rows.   Bounds: of kKept batchers at once; of others it is not known.
class RowsOf {
 public:
  void Add(const batch::Batcher* batcher) {
    Kept* at = Find(batcher);
    for (Kept& kept : kept_)
      if (at == nullptr && kept.rows == 0) at = &kept;
    if (at == nullptr) return;
    at->batcher = batcher;
    ++at->rows;
  }
  void Remove(const batch::Batcher* batcher) {
    if (Kept* const kept = Find(batcher); kept != nullptr) --kept->rows;
  }
  bool Has(const batch::Batcher* batcher) { return Find(batcher) != nullptr; }

 private:
  static constexpr int kKept = 4;
  struct Kept {
    const batch::Batcher* batcher = nullptr;
    uint32_t rows = 0;
  };
  Kept* Find(const batch::Batcher* batcher) {
    for (Kept& kept : kept_)
      if (kept.rows != 0 && kept.batcher == batcher) return &kept;
    return nullptr;
  }
  Kept kept_[kKept];
};

struct StageTime {
  base::TimePoint first = 0, last = 0;
};

// A request under way: what the engine keeps of it beside the bus.
struct LiveBus final : bus::Bus {
  EngineCore* engine = nullptr;
  DeadlineTimer deadline_timer;
  LiveBus* next_bus = nullptr;  // in one of the engine's lists
  Parked *parked = nullptr, *last_parked = nullptr, *idle_parked = nullptr;
  const std::vector<ModelBinding>* bindings = nullptr;  // of its catalogue: by task
  StageTime* stages = nullptr;                          // null: this request is not timed
  uint32_t samples_left = 0, rows_out = 0;              // samples that may still decide; flights that hold a credit or a place in a batch
  RowsOf rows_of;                                       // the same by batcher
  const bus::Failure* sample_failure = nullptr;         // of the lowest sample that failed
  Failures failures;
  batch::SharedHashes hashes;  // of what its rows share
  bool has_failures = false;   // some channel has failed: readers look at their inputs
  bool refused = false;        // something of it, and it was counted
  bool decided = false;        // the outcome is known; the answer is about to leave
  bool listed_as_drained = false;

  // What fails next is no task's failure, least of all that of the last one that ran.
  void ClearMain() {
    main.task = WF_NONE;
    main.instance = nullptr;
    main.failure = nullptr;
  }
};

// Buses whose requests are over, for those to come. The one that is next has the memory that it came with, so that requests one behind
// another need none; what a burst took is there for bodies.
// Thread: loop-confined.   Owns: the buses.
class IdleBuses {
 public:
  IdleBuses() = default;
  ~IdleBuses() {
    while (LiveBus* const bus = Take()) delete bus;
  }
  IdleBuses(const IdleBuses&) = delete;
  IdleBuses& operator=(const IdleBuses&) = delete;

  uint32_t count() const { return count_; }
  void Put(LiveBus& bus) {
    if (first_ != nullptr) first_->arena.FreeAll();
    bus.next_bus = first_;
    first_ = &bus;
    ++count_;
  }
  LiveBus* Take() {  // null: there is none
    LiveBus* const bus = first_;
    if (bus == nullptr) return nullptr;
    first_ = bus->next_bus;
    --count_;
    return bus;
  }

 private:
  LiveBus* first_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace wf::sched
