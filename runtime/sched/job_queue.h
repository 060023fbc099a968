#pragma once

#include "runtime/base/clock.h"

namespace wf::sched {

class Job;

// Where strands wait for a thread of the pool. Production: WorkerPool; simulation: a list from which the seed picks.
// Thread: Push by any loop. A job comes back through its loop's mailbox.   Bounds: one entry per running strand, paid for by its bus.
class JobQueue {
 public:
  virtual ~JobQueue() = default;
  virtual void Push(Job& job) noexcept = 0;
  // What a strand of this class and deadline that came now would wait at least for those before it, by what tasks have taken. 0: not known.
  virtual int64_t WaitNs(uint8_t /*priority*/, base::TimePoint /*deadline*/) const noexcept { return 0; }
};

}  // namespace wf::sched
