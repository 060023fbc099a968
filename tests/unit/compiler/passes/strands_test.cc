#include <gtest/gtest.h>

#include "compiler/passes/passes.h"

namespace wf::passes {
namespace {

using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;

// Tasks that each read the slot of the one before: decode, resize, a model, and what comes after.
ir::Program Chain() {
  ir::Program program;
  program.regions.emplace_back();
  for (uint16_t i = 0; i < 4; ++i) {
    program.slots.push_back({.name = "slot", .type = program.types.String(), .region = ir::RegionId{0}});
    ir::Task task{.kind = i == 2 ? TaskKind::kModel : TaskKind::kRun, .region = ir::RegionId{0}, .out = SlotId{i}};
    if (i > 0) task.in = {SlotId{static_cast<uint16_t>(i - 1)}};
    program.tasks.push_back(std::move(task));
    program.regions[0].tasks.push_back(TaskId{i});
    program.regions[0].slots.push_back(SlotId{i});
  }
  return program;
}

TEST(FormStrands, ChainsUpToTheModelAndNotBeyond) {
  ir::Program program = Chain();
  FormStrands(program);
  EXPECT_EQ(program.tasks[0].chain, TaskId{1});
  EXPECT_EQ(program.tasks[1].chain, TaskId{2});
  EXPECT_EQ(program.tasks[2].chain, TaskId::kNone);
}

TEST(FormStrands, BreaksWhereAnotherTaskReadsTheSlot) {
  ir::Program program = Chain();
  program.tasks[3].in.push_back(SlotId{0});
  FormStrands(program);
  EXPECT_EQ(program.tasks[0].chain, TaskId::kNone);
  EXPECT_EQ(program.tasks[1].chain, TaskId{2});
}

TEST(FormStrands, BreaksBetweenCostClassesAndAtControl) {
  ir::Program program = Chain();
  program.tasks[0].compute = true;
  FormStrands(program);
  EXPECT_EQ(program.tasks[0].chain, TaskId::kNone);
  program = Chain();
  program.tasks[0].control = true;
  FormStrands(program);
  EXPECT_EQ(program.tasks[0].chain, TaskId::kNone);
}

}  // namespace
}  // namespace wf::passes
