// Tasks, regions and slots of the plan, and who waits for whom.

#include <algorithm>
#include <cstddef>

#include "compiler/ir/waits.h"
#include "compiler/lower/plan.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

std::vector<uint16_t> SlotNumbers(const std::vector<ir::SlotId>& slots) {
  std::vector<uint16_t> numbers;
  for (const ir::SlotId slot : slots) numbers.push_back(PlanIndex(slot));
  return numbers;
}

void AppendTask(Context& context, const ir::Task& task, const TaskFunctions& functions, const std::vector<uint16_t>& next, Image* tasks) {
  wf_task row{};
  row.kind = static_cast<uint8_t>(task.kind);
  row.cost_class = task.compute ? WF_COMPUTE : WF_INLINE;
  row.region = PlanIndex(task.region);
  row.node = PlanIndex(task.node);
  row.policy = PlanIndex(task.policy);
  row.out = PlanIndex(task.out);
  row.chain = PlanIndex(task.chain);
  row.n_in = static_cast<uint16_t>(task.in.size());
  row.n_next = static_cast<uint16_t>(next.size());
  row.cost_ns = task.cost_ns;
  row.cost_ns_per_unit = task.cost_ns_per_unit;
  row.target = task.kind == ir::TaskKind::kModel ? PlanIndex(task.model)
               : task.targets.empty()            ? static_cast<uint16_t>(WF_NONE)
                                                 : PlanIndex(task.targets[0]);
  row.n_targets = static_cast<uint16_t>(task.targets.size());
  row.window = static_cast<uint16_t>(std::min<uint32_t>(std::max(task.window, task.place), UINT16_MAX));
  row.flags = static_cast<uint16_t>((task.control ? WF_CONTROL : 0) | (task.blocking ? WF_BLOCKING : 0));
  const size_t at = tasks->Add(row);
  tasks->Pointer(at + offsetof(wf_task, in), EmitNumbers(context, SlotNumbers(task.in), "in"));
  tasks->Pointer(at + offsetof(wf_task, next), EmitNumbers(context, next, "next"));
  tasks->Pointer(at + offsetof(wf_task, fn), functions.body);
  tasks->Pointer(at + offsetof(wf_task, work), functions.work);
}

}  // namespace

std::vector<std::vector<uint16_t>> NextTasks(const ir::Program& program) {
  std::vector<std::vector<uint16_t>> next(program.tasks.size());
  const std::vector<std::vector<ir::TaskId>> waits = ir::WaitsOf(program);
  for (size_t i = 0; i < waits.size(); ++i) {
    for (const ir::TaskId earlier : waits[i]) next[static_cast<size_t>(earlier)].push_back(static_cast<uint16_t>(i));
  }
  return next;
}

llvm::GlobalVariable* EmitTasks(Context& context, const Functions& functions) {
  const std::vector<std::vector<uint16_t>> next = NextTasks(context.program());
  Image tasks;
  for (size_t i = 0; i < next.size(); ++i) AppendTask(context, context.program().tasks[i], functions.tasks[i], next[i], &tasks);
  return tasks.Global(context.module(), "tasks", 64);
}

llvm::GlobalVariable* EmitRegions(Context& context, const FrameLayout& frames) {
  const ir::Program& program = context.program();
  std::vector<uint16_t> waits(program.tasks.size());
  for (const std::vector<uint16_t>& list : NextTasks(program)) {
    for (const uint16_t task : list) ++waits[task];
  }
  Image regions;
  for (size_t i = 0; i < program.regions.size(); ++i) {
    const ir::Region& region = program.regions[i];
    wf_region row{};
    row.frame_bytes = frames.regions[i].bytes;
    row.element_offset = frames.regions[i].element_offset;
    row.parent = PlanIndex(region.parent);
    row.first_task = region.tasks.empty() ? uint16_t{0} : PlanIndex(region.tasks[0]);
    row.n_tasks = static_cast<uint16_t>(region.tasks.size());
    row.first_slot = region.slots.empty() ? uint16_t{0} : PlanIndex(region.slots[0]);
    row.n_slots = static_cast<uint16_t>(region.slots.size());
    row.result = PlanIndex(region.result);
    row.on_error = PlanIndex(region.on_error);
    row.node = PlanIndex(region.node);
    const size_t at = regions.Add(row);
    std::vector<uint16_t> own;
    for (const ir::TaskId task : region.tasks) own.push_back(waits[static_cast<size_t>(task)]);
    regions.Pointer(at + offsetof(wf_region, waits), EmitNumbers(context, own, "waits"));
  }
  return regions.Global(context.module(), "regions");
}

llvm::GlobalVariable* EmitSlots(Context& context, const FrameLayout& frames) {
  Image slots;
  for (size_t i = 0; i < context.program().slots.size(); ++i) {
    const ir::Slot& slot = context.program().slots[i];
    const FrameLayout::Slot& place = frames.slots[i];
    wf_slot row{};
    row.offset = place.offset;
    row.size = place.size;
    row.data = place.data;
    row.type = PlanIndex(slot.type);
    row.region = PlanIndex(slot.region);
    row.store = static_cast<uint8_t>(place.store);
    slots.Add(row);
  }
  return slots.Global(context.module(), "slots");
}

}  // namespace wf::lower
