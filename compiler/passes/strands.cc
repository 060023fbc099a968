// A strand is a chain of tasks that the pool runs as one piece of work: each is the sole successor of, and waits only for, the one before,
// in its region and cost class. It may end in a model call, whose row is then submitted from the pool (runtime/abi/verify holds the same
// rules).

#include "compiler/ir/waits.h"
#include "compiler/passes/passes.h"

namespace wf::passes {
namespace {

using ir::Task;
using ir::TaskId;
using ir::TaskKind;

using Waits = std::vector<std::vector<TaskId>>;  // by task

void FormStrandsOf(ir::Program& program, const ir::Region& region, const Waits& waits, const std::vector<size_t>& successors) {
  for (size_t i = 0; i + 1 < region.tasks.size(); ++i) {
    const TaskId id = region.tasks[i], next = region.tasks[i + 1];
    Task& task = program[id];
    const Task& after = program[next];
    const bool is_sole = successors[static_cast<size_t>(id)] == 1 && waits[static_cast<size_t>(next)] == std::vector<TaskId>{id};
    const bool goes_on =
        after.kind == TaskKind::kModel || (after.kind == TaskKind::kRun && after.compute == task.compute && !after.control);
    const bool is_result = task.out != ir::SlotId::kNone && task.out == region.result;
    if (task.kind == TaskKind::kRun && !task.control && is_sole && goes_on && !is_result && task.blocking == after.blocking)
      task.chain = next;
  }
}

}  // namespace

void FormStrands(ir::Program& program) {
  const Waits waits = ir::WaitsOf(program);
  std::vector<size_t> successors(program.tasks.size());
  for (const std::vector<TaskId>& earlier : waits) {
    for (const TaskId id : earlier) ++successors[static_cast<size_t>(id)];
  }
  for (const ir::Region& region : program.regions) FormStrandsOf(program, region, waits, successors);
}

}  // namespace wf::passes
