#include <algorithm>
#include <vector>

#include "compiler/passes/passes.h"

namespace wf::passes {
namespace {

using ir::TaskId;

size_t Index(TaskId id) { return static_cast<size_t>(id); }

// Per task: the tasks of its region that it waits for, each once.
std::vector<std::vector<TaskId>> Predecessors(const ir::Program& program) {
  std::vector<TaskId> writer(program.slots.size(), TaskId::kNone);
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const ir::SlotId out = program.tasks[i].out;
    if (out != ir::SlotId::kNone) writer[static_cast<size_t>(out)] = TaskId{static_cast<uint16_t>(i)};
  }
  std::vector<std::vector<TaskId>> before(program.tasks.size());
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const ir::Task& task = program.tasks[i];
    std::vector<TaskId>& own = before[i];
    own = task.after;
    for (const auto* slots : {&task.in, &task.settled}) {
      for (const ir::SlotId slot : *slots) {
        const TaskId from = writer[static_cast<size_t>(slot)];
        if (from != TaskId::kNone && program[from].region == task.region) own.push_back(from);
      }
    }
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return before;
}

}  // namespace

// A strand is what one hop to the pool runs: each task is the only one that waits for the one before, waits for nothing else, and is of its
// cost class. A model may end a strand: the pool thread submits its row.
void FormStrands(ir::Program& program) {
  const std::vector<std::vector<TaskId>> before = Predecessors(program);
  std::vector<size_t> successors(program.tasks.size());
  for (const auto& own : before) {
    for (const TaskId id : own) ++successors[Index(id)];
  }
  for (size_t i = 1; i < program.tasks.size(); ++i) {
    const TaskId id{static_cast<uint16_t>(i)}, previous{static_cast<uint16_t>(i - 1)};
    ir::Task &task = program[id], &first = program[previous];
    first.chain = TaskId::kNone;
    const bool is_alone = before[i].size() == 1 && before[i][0] == previous && successors[i - 1] == 1;
    if (!is_alone || first.kind != ir::TaskKind::kRun || first.control || first.blocking || task.control || task.blocking) continue;
    const bool ends_in_model = task.kind == ir::TaskKind::kModel;
    if (ends_in_model || (task.kind == ir::TaskKind::kRun && task.compute == first.compute)) first.chain = id;
  }
}

}  // namespace wf::passes
