#pragma once

#include <cstdint>

#include "runtime/bus/failure.h"
#include "runtime/bus/instance.h"

namespace wf::sched {

// Sees what timing decided, so that a test can tell its oracle. Null in production.
// Thread: the engine's loop.
class Observer {
 public:
  virtual ~Observer() = default;
  // An attempt of the ENTER `task` in `where` ended by its timeout.
  virtual void OnTimedOut(const bus::Instance& where, uint16_t task, int attempt) = 0;
  // A model call did not run: late in the queue, or failed by its run; or refused by a full queue, and then `task` is the start of its
  // strand.
  virtual void OnModelFailed(const bus::Instance& where, uint16_t task, const bus::Failure& why) = 0;
};

}  // namespace wf::sched
