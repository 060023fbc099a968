#include "runtime/bus/plan_index.h"

#include <algorithm>

#include "runtime/abi/outcome.h"
#include "runtime/bus/instance.h"

namespace wf::bus {
namespace {

constexpr uint32_t AlignUp(size_t value, size_t align) { return static_cast<uint32_t>((value + align - 1) & ~(align - 1)); }

}  // namespace

PlanIndex::PlanIndex(const wf_plan& plan) : plan_(plan), regions_(plan.n_regions), tasks_(plan.n_tasks) {
  LinkRegions();
  FindReturns();
  FindOutcome();
  FindReusable();
  for (uint32_t i = 0; i < plan.n_regions; ++i) {
    RegionInfo& info = regions_[i];
    info.channels_at = AlignUp(sizeof(Instance) + info.depth * sizeof(void*), alignof(Channel));
    FindShares(static_cast<uint16_t>(i));
    info.spent_at = AlignUp(info.channels_at + plan.regions[i].n_slots * sizeof(Channel), alignof(int64_t));
    info.frame_at = AlignUp(info.spent_at + info.n_shared * sizeof(int64_t), 64);
    for (uint16_t k = 0; k < plan.regions[i].n_tasks; ++k)
      if (plan.regions[i].waits[k] == 0) info.starts.push_back(static_cast<uint16_t>(plan.regions[i].first_task + k));
    if (info.how == EnteredBy::kFailure) info.given.push_back(plan.regions[i].first_slot);
    info.instance_bytes = info.frame_at + AlignUp(plan.regions[i].frame_bytes, 64);
  }
  for (uint32_t i = 0; i < plan.n_workflows; ++i)
    for (uint16_t k = 0; k < plan.workflows[i].n_in; ++k) regions_[plan.workflows[i].root].given.push_back(plan.workflows[i].in[k].slot);
}

void PlanIndex::LinkRegions() {
  for (uint32_t i = 0; i < plan_.n_regions; ++i)
    for (uint16_t at = plan_.regions[i].parent; at != WF_NONE; at = plan_.regions[at].parent) ++regions_[i].depth;
  for (uint32_t i = 0; i < plan_.n_tasks; ++i) {
    const wf_task& task = plan_.tasks[i];
    tasks_[i].starts_strand = task.chain != WF_NONE;
    for (uint16_t k = 0; k < task.n_next; ++k) {
      const uint16_t region = plan_.tasks[task.next[k]].region;
      if (region == task.region) continue;
      tasks_[i].wakes_inside = true;
      regions_[region].outer.push_back({task.next[k], task.out});
    }
    if (task.kind != WF_ENTER && task.kind != WF_SELECT && task.kind != WF_EACH) continue;
    for (uint16_t k = 0; k < task.n_targets; ++k) {
      RegionInfo& info = regions_[task.target + k];
      info.entered_by = static_cast<uint16_t>(i);
      info.how = task.kind == WF_ENTER ? EnteredBy::kEnter : task.kind == WF_SELECT ? EnteredBy::kSelect : EnteredBy::kEach;
    }
    const uint16_t fallback = plan_.regions[task.target].on_error;
    if (task.kind != WF_ENTER || fallback == WF_NONE) continue;
    regions_[fallback].entered_by = static_cast<uint16_t>(i);
    regions_[fallback].how = EnteredBy::kFailure;
  }
}

// Tasks that do the work of one node between them; entering a region is not work.
void PlanIndex::FindShares(uint16_t region) {
  const wf_region& row = plan_.regions[region];
  const auto works = [this](uint32_t id) { return plan_.tasks[id].kind == WF_RUN || plan_.tasks[id].kind == WF_MODEL; };
  const uint32_t end = uint32_t{row.first_task} + row.n_tasks;
  for (uint32_t i = row.first_task; i < end; ++i) {
    if (!works(i) || plan_.tasks[i].node == WF_NONE) continue;
    for (uint32_t k = i + 1; k < end && tasks_[i].ends_node; ++k) {
      if (!works(k) || plan_.tasks[k].node != plan_.tasks[i].node) continue;
      if (tasks_[i].share == WF_NONE) tasks_[i].share = regions_[region].n_shared++;
      tasks_[k].share = tasks_[i].share;
      tasks_[i].ends_node = false;
    }
  }
}

// A return ends the nearest region around it that was not entered by a SELECT.
void PlanIndex::FindReturns() {
  for (uint32_t i = 0; i < plan_.n_tasks; ++i) {
    if (plan_.tasks[i].kind != WF_RETURN) continue;
    uint16_t region = plan_.tasks[i].region;
    while (regions_[region].how == EnteredBy::kSelect) {
      regions_[region].ended_by_return = true;
      region = plan_.regions[region].parent;
      ++tasks_[i].return_hops;
    }
    regions_[region].ended_by_return = true;
  }
}

void PlanIndex::FindOutcome() {
  const std::vector<uint8_t> is_outcome = abi::OutcomeTasks(plan_);
  uint16_t place = 0;
  for (uint32_t i = 0; i < plan_.n_workflows; ++i) FindPlaces(plan_.workflows[i].root, &place);
  for (uint32_t i = 0; i < plan_.n_tasks; ++i) {
    const wf_task& task = plan_.tasks[i];
    tasks_[i].is_outcome = is_outcome[i] != 0;
    tasks_[i].decides = is_outcome[i] != 0 && ((task.flags & WF_CONTROL) != 0 || task.kind == WF_RETURN);
    std::vector<uint16_t> in(task.in, task.in + task.n_in);
    std::sort(in.begin(), in.end());
    tasks_[i].reads_twice = std::adjacent_find(in.begin(), in.end()) != in.end();
    if (task.out == WF_NONE || (task.flags & WF_CONTROL) != 0) continue;
    for (uint16_t k = 0; k < task.n_next; ++k) {
      const wf_task& next = plan_.tasks[task.next[k]];
      if (next.kind != WF_RETURN) continue;
      if (std::find(next.in, next.in + next.n_in, task.out) == next.in + next.n_in) tasks_[task.next[k]].beside.push_back(task.out);
    }
  }
}

void PlanIndex::FindPlaces(uint16_t region, uint16_t* next) {
  const uint32_t end = uint32_t{plan_.regions[region].first_task} + plan_.regions[region].n_tasks;
  for (uint32_t i = plan_.regions[region].first_task; i < end; ++i) {
    const wf_task& task = plan_.tasks[i];
    tasks_[i].place = (*next)++;
    if (task.kind != WF_SELECT || task.out != WF_NONE) continue;
    for (uint16_t k = 0; k < task.n_targets; ++k) FindPlaces(static_cast<uint16_t>(task.target + k), next);
  }
}

bool PlanIndex::PointsIntoFrame(uint16_t type, int depth) const {
  const wf_type& row = plan_.types[type];
  if (row.kind == WF_T_TENSOR) return true;
  if (row.kind == WF_T_OPTIONAL) return PointsIntoFrame(row.element, depth + 1);
  for (int i = 0; row.kind == WF_T_RECORD && i < row.n_fields; ++i)
    if (PointsIntoFrame(row.fields[i].type, depth + 1)) return true;
  return false;
}

bool PlanIndex::HasInFrameData(uint16_t region) const {
  const wf_region& row = plan_.regions[region];
  for (int i = 0; i < row.n_slots; ++i) {
    const wf_slot& slot = plan_.slots[row.first_slot + i];
    if (slot.store == WF_IN_FRAME && PointsIntoFrame(slot.type, 0)) return true;
  }
  return false;
}

void PlanIndex::FindReusable() {
  for (uint32_t i = 0; i < plan_.n_regions; ++i) {
    RegionInfo& info = regions_[i];
    // Only a fan-out enters a region often enough within one request to be worth it.
    info.reusable = info.how == EnteredBy::kEach && !HasInFrameData(static_cast<uint16_t>(i));
  }
}

}  // namespace wf::bus
