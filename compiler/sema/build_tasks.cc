#include "compiler/sema/build_tasks.h"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;

namespace {

void AddOnce(std::vector<SlotId>& slots, SlotId slot) {
  if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
}

}  // namespace

RegionId TaskWriter::OpenRegion(RegionId parent) {
  out_.regions.push_back({.parent = parent, .node = node_});
  return RegionId{static_cast<uint32_t>(out_.regions.size() - 1)};
}

SlotId TaskWriter::AddSlot(RegionId region, const std::string& name, ir::TypeId type, ir::Store store) {
  out_.slots.push_back({.name = name, .type = type, .region = region, .store = store});
  const SlotId id{static_cast<uint32_t>(out_.slots.size() - 1)};
  out_.regions[Index(region)].slots.push_back(id);
  return id;
}

void TaskWriter::SortSteps(std::vector<SlotId>& slots) const {
  const auto place = [&](SlotId slot) {
    const auto step = steps_.find(slot);
    return step == steps_.end() ? steps_.size() : step->second;
  };
  std::stable_sort(slots.begin(), slots.end(), [&](SlotId a, SlotId b) { return place(a) < place(b); });
}

TaskId TaskWriter::AddTask(ir::Task task) {
  if (task.region == flow_.region()) task.after = flow_.controls();
  if (task.kind != TaskKind::kModel) {
    for (const SlotId gate : gates_) AddOnce(task.in, gate);
  }
  if (task.kind == TaskKind::kRun || task.kind == TaskKind::kSelect) SortSteps(task.in);
  out_.tasks.push_back(std::move(task));
  const TaskId id{static_cast<uint32_t>(out_.tasks.size() - 1)};
  out_.regions[Index(out_.tasks.back().region)].tasks.push_back(id);
  return id;
}

SlotId TaskWriter::AddTask(ir::Task task, const std::string& name, ir::TypeId type, ir::Store store) {
  const SlotId out = task.out = AddSlot(task.region, name, type, store);
  AddTask(std::move(task));
  return out;
}

ir::PolicyId TaskWriter::Intern(const ir::Policy& policy) {
  const auto found = std::find(out_.policies.begin(), out_.policies.end(), policy);
  const auto index = static_cast<uint32_t>(found - out_.policies.begin());
  if (found == out_.policies.end()) out_.policies.push_back(policy);
  return ir::PolicyId{index};
}

bool TaskWriter::IsInside(RegionId inner, RegionId outer) const {
  for (; inner != RegionId::kNone; inner = out_.regions[Index(inner)].parent) {
    if (inner == outer) return true;
  }
  return false;
}

int TaskWriter::DepthOf(RegionId region) const {
  int depth = 0;
  for (; out_.regions[Index(region)].parent != RegionId::kNone; region = out_.regions[Index(region)].parent) ++depth;
  return depth;
}

// A task that enters regions reads what those read, but for a statement `if`. Regions around `region` were opened before it.
TaskWriter::Reads TaskWriter::OuterReads(RegionId region) const {
  Reads reads;
  std::unordered_set<SlotId> in, settled;
  std::set<RegionId> pending{region};
  while (!pending.empty()) {
    const RegionId next = *pending.begin();
    pending.erase(pending.begin());
    for (const TaskId id : out_.regions[Index(next)].tasks) {
      const ir::Task& task = out_[id];
      for (const SlotId slot : task.in) {
        if (out_[slot].region < region && in.insert(slot).second) reads.in.push_back(slot);
      }
      for (const SlotId slot : task.settled) {
        if (out_[slot].region < region && settled.insert(slot).second) reads.settled.push_back(slot);
      }
      if (task.kind != TaskKind::kSelect || !task.control) continue;
      for (const RegionId target : task.targets) {
        if (target > next) pending.insert(target);
      }
    }
  }
  std::erase_if(reads.settled, [&](SlotId slot) { return in.contains(slot); });
  return reads;
}

void TaskWriter::AddInputs(ir::Task& task, RegionId region) const {
  const Reads reads = OuterReads(region);
  std::unordered_set<SlotId> known(task.in.begin(), task.in.end());
  for (const SlotId slot : reads.in) {
    if (known.insert(slot).second) task.in.push_back(slot);
  }
  std::erase_if(task.settled, [&](SlotId slot) { return known.contains(slot); });
  known.insert(task.settled.begin(), task.settled.end());
  for (const SlotId slot : reads.settled) {
    if (known.insert(slot).second) task.settled.push_back(slot);
  }
}

void TaskWriter::AddFallback(ir::Task& task, RegionId fallback) const {
  const Reads reads = OuterReads(fallback);
  std::unordered_set<SlotId> known(task.in.begin(), task.in.end());
  known.insert(task.settled.begin(), task.settled.end());
  for (const auto* slots : {&reads.in, &reads.settled}) {
    for (const SlotId slot : *slots) {
      if (known.insert(slot).second) task.settled.push_back(slot);
    }
  }
}

void Renumber(ir::Program& program) {
  std::vector<SlotId> slot_of(program.slots.size());
  std::vector<TaskId> task_of(program.tasks.size());
  std::vector<ir::Slot> slots;
  std::vector<ir::Task> tasks;
  for (ir::Region& region : program.regions) {
    for (SlotId& slot : region.slots) {
      slot_of[Index(slot)] = SlotId{static_cast<uint32_t>(slots.size())};
      slots.push_back(std::move(program.slots[Index(slot)]));
      slot = slot_of[Index(slot)];
    }
    for (TaskId& task : region.tasks) {
      task_of[Index(task)] = TaskId{static_cast<uint32_t>(tasks.size())};
      tasks.push_back(std::move(program.tasks[Index(task)]));
      task = task_of[Index(task)];
    }
  }
  program.slots = std::move(slots);
  program.tasks = std::move(tasks);
  const auto move_slot = [&](SlotId& slot) {
    if (slot != SlotId::kNone) slot = slot_of[Index(slot)];
  };
  for (ir::Region& region : program.regions) move_slot(region.result);
  for (ir::Task& task : program.tasks) {
    move_slot(task.out);
    std::for_each(task.in.begin(), task.in.end(), move_slot);
    std::for_each(task.settled.begin(), task.settled.end(), move_slot);
    for (TaskId& before : task.after) before = task_of[Index(before)];
    for (ir::Op& op : task.body.ops) {
      if (op.kind == OpKind::kSlot) op.imm = Index(slot_of[op.imm]);
    }
  }
  for (ir::Workflow& workflow : program.workflows) {
    for (ir::Port& port : workflow.in) move_slot(port.slot);
    for (ir::Port& port : workflow.out) move_slot(port.slot);
  }
}

}  // namespace wf::sema
