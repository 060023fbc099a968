#pragma once

#include <memory>

#include "runtime/bus/bus.h"
#include "runtime/bus/memory.h"

namespace wf::diff {

// A job without a request: what generated code needs around it.
struct Scratch {
  bus::ChunkMemory memory;
  wf_plan no_plan{};
  bus::Bus bus;
  Scratch() {
    bus.plan_ = &no_plan;
    bus.arena.Open(memory, bus.budget, 65536 - 64);
    bus.main.bus = &bus;
    bus.main.arena = &bus.arena;
    bus.main.head.stop = &bus.stop_word;
  }
};

}  // namespace wf::diff
