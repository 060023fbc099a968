#pragma once

#include "runtime/bus/bus.h"
#include "runtime/bus/memory.h"

namespace wf::test {

// A bus of nobody: memory and a place for the failure of what is read before there is a call.
class Scratch {
 public:
  explicit Scratch(const wf_plan& plan) {
    bus_.plan_ = &plan;
    bus_.main.bus = &bus_;
    bus_.main.arena = &bus_.arena;
    bus_.main.head.stop = &bus_.stop_word;
    bus_.arena.Open(memory_, bus_.budget, 4096 - 64);
  }
  ~Scratch() { bus_.arena.FreeAll(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  wf_ctx* ctx() { return bus_.ctx(); }
  const bus::Failure& TakeFailure(wf_code code) { return bus_.main.TakeFailure(code); }
  void Reset() {
    bus_.main.failure = nullptr;
    bus_.arena.Reset(true);
  }

 private:
  bus::ChunkMemory memory_;
  bus::Bus bus_;
};

}  // namespace wf::test
