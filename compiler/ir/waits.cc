#include "compiler/ir/waits.h"

#include <algorithm>

namespace wf::ir {
namespace {

bool Holds(const std::vector<SlotId>& slots, SlotId slot) { return std::find(slots.begin(), slots.end(), slot) != slots.end(); }

}  // namespace

std::vector<TaskId> EnteredBy(const Program& program) {
  std::vector<TaskId> entered_by(program.regions.size(), TaskId::kNone);
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    for (const RegionId target : program.tasks[i].targets) {
      entered_by[Index(target)] = static_cast<TaskId>(i);
      if (program[target].on_error != RegionId::kNone) entered_by[Index(program[target].on_error)] = static_cast<TaskId>(i);
    }
  }
  return entered_by;
}

std::vector<std::vector<TaskId>> WaitsOf(const Program& program) {
  const std::vector<TaskId> entered_by = EnteredBy(program);
  std::vector<TaskId> writer(program.slots.size(), TaskId::kNone);
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    if (program.tasks[i].out != SlotId::kNone) writer[Index(program.tasks[i].out)] = static_cast<TaskId>(i);
  }
  const auto has_settled = [&](RegionId region, SlotId slot) {  // when `region` is entered
    for (; region != program[slot].region; region = program[region].parent) {
      if (entered_by[Index(region)] == TaskId::kNone) return true;
      const Task& entering = program[entered_by[Index(region)]];
      if (Holds(entering.in, slot) || Holds(entering.settled, slot)) return true;
    }
    return false;
  };
  std::vector<std::vector<TaskId>> waits(program.tasks.size());
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const Task& task = program.tasks[i];
    waits[i] = task.after;
    for (const auto* slots : {&task.in, &task.settled}) {
      for (const SlotId slot : *slots) {
        if (writer[Index(slot)] != TaskId::kNone && !has_settled(task.region, slot)) waits[i].push_back(writer[Index(slot)]);
      }
    }
    std::sort(waits[i].begin(), waits[i].end());
    waits[i].erase(std::unique(waits[i].begin(), waits[i].end()), waits[i].end());
  }
  return waits;
}

}  // namespace wf::ir
