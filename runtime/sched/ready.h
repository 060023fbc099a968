#pragma once

#include <cstdint>

#include "runtime/bus/instance.h"
#include "runtime/bus/plan_index.h"

namespace wf::sched {

// A task whose turn has come.
// Thread: loop-confined.   Borrows: instance, until its generation is another; skip, a failure of the bus.
struct Ready {
  bus::Instance* instance;
  const bus::Failure* skip;  // not null: ends with this failure instead of running
  uint32_t generation;
  uint16_t task;
};

// For a heap whose first is the first in the text.
struct IsLater {
  const bus::PlanIndex& index;
  bool operator()(const Ready& a, const Ready& b) const { return index.task(a.task).place > index.task(b.task).place; }
};

}  // namespace wf::sched
