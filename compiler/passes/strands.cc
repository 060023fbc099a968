// A strand is a chain of tasks that the pool runs as one piece of work: each is the sole successor of, and waits only for, the one before,
// in its region and cost class. It may end in a model call, whose row is then submitted from the pool (runtime/abi/verify holds the same
// rules).

#include <algorithm>
#include <set>

#include "compiler/passes/passes.h"

namespace wf::passes {
namespace {

using ir::Task;
using ir::TaskId;
using ir::TaskKind;

// The tasks of this region that `task` waits for.
std::set<TaskId> WaitsFor(const ir::Program& program, const Task& task) {
  std::set<TaskId> waits(task.after.begin(), task.after.end());
  for (const TaskId other : program[task.region].tasks) {
    const ir::SlotId out = program[other].out;
    if (out == ir::SlotId::kNone) continue;
    const auto reads = [&](const std::vector<ir::SlotId>& slots) { return std::find(slots.begin(), slots.end(), out) != slots.end(); };
    if (reads(task.in) || reads(task.settled)) waits.insert(other);
  }
  return waits;
}

void FormStrandsOf(ir::Program& program, const ir::Region& region) {
  std::vector<std::set<TaskId>> waits;
  for (const TaskId id : region.tasks) waits.push_back(WaitsFor(program, program[id]));
  for (size_t i = 0; i + 1 < region.tasks.size(); ++i) {
    const TaskId id = region.tasks[i], next = region.tasks[i + 1];
    Task& task = program[id];
    const Task& after = program[next];
    const auto successors = std::count_if(waits.begin(), waits.end(), [&](const auto& ids) { return ids.contains(id); });
    const bool is_sole = successors == 1 && waits[i + 1] == std::set<TaskId>{id};
    const bool goes_on =
        after.kind == TaskKind::kModel || (after.kind == TaskKind::kRun && after.compute == task.compute && !after.control);
    const bool is_result = task.out != ir::SlotId::kNone && task.out == region.result;
    if (task.kind == TaskKind::kRun && !task.control && is_sole && goes_on && !is_result && task.blocking == after.blocking)
      task.chain = next;
  }
}

}  // namespace

void FormStrands(ir::Program& program) {
  for (const ir::Region& region : program.regions) FormStrandsOf(program, region);
}

}  // namespace wf::passes
