#pragma once

#include <gtest/gtest.h>

#include "runtime/bus/context.h"
#include "tests/unit/support/plans.h"
#include "tests/unit/support/rig.h"

namespace wf::bus {

// A bus whose main context generated code could run under: a plan and an arena of small chunks, no workflow begun.
// Owns: the memory, the bus.   Thread: the test's.
class ContextRig : public ::testing::Test {
 protected:
  void SetUp() override {
    bus_.plan_ = &classify_plan;
    bus_.arena.Open(memory_, bus_.budget, 4000);
    bus_.main.bus = &bus_;
    bus_.main.arena = &bus_.arena;
  }
  test::TestMemory memory_;
  Bus bus_;
};

}  // namespace wf::bus
