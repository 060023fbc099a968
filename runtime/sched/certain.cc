#include "runtime/sched/certain.h"

#include <algorithm>

namespace wf::sched {
namespace {

class Walk {
 public:
  explicit Walk(const bus::PlanIndex& index) : index_(index), plan_(index.plan()), seen_(plan_.n_tasks), writer_(plan_.n_slots, WF_NONE) {
    for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
      if (plan_.tasks[t].out != WF_NONE) writer_[plan_.tasks[t].out] = static_cast<uint16_t>(t);
    }
  }

  std::vector<uint16_t> From(uint16_t root) {
    NeedResultOf(root);
    while (!open_.empty()) {
      const uint16_t id = open_.back();
      open_.pop_back();
      Take(id);
    }
    std::sort(certain_.begin(), certain_.end());
    return std::move(certain_);
  }

 private:
  void Need(uint16_t id) {
    if (id == WF_NONE || seen_[id]) return;
    seen_[id] = true;
    open_.push_back(id);
  }

  void Take(uint16_t id) {
    const wf_task& task = plan_.tasks[id];
    const bool may_do_without = task.kind == WF_ENTER && plan_.regions[task.target].on_error != WF_NONE;
    if (may_do_without) return;
    if (task.kind == WF_RUN || task.kind == WF_MODEL) certain_.push_back(id);
    for (int i = 0; i < task.n_in; ++i) Need(writer_[task.in[i]]);
    const bool is_timed = task.policy != WF_NONE && plan_.policies[task.policy].timeout_ns > 0;  // it goes before those with more time
    if (task.kind == WF_ENTER && !is_timed) NeedResultOf(task.target);
  }

  // By the one task that gives it.
  void NeedResultOf(uint16_t region) {
    if (!index_.region(region).ended_by_return) {
      const uint16_t result = plan_.regions[region].result;
      if (result != WF_NONE) Need(writer_[result]);
      return;
    }
    uint16_t only = WF_NONE;
    for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
      if (plan_.tasks[t].kind != WF_RETURN || EndedBy(static_cast<uint16_t>(t)) != region) continue;
      if (only != WF_NONE) return;
      only = static_cast<uint16_t>(t);
    }
    if (only != WF_NONE && plan_.tasks[only].region == region) Need(only);
  }

  uint16_t EndedBy(uint16_t id) const {
    uint16_t region = plan_.tasks[id].region;
    for (uint16_t hops = index_.task(id).return_hops; hops > 0; --hops) region = plan_.regions[region].parent;
    return region;
  }

  const bus::PlanIndex& index_;
  const wf_plan& plan_;
  std::vector<bool> seen_;
  std::vector<uint16_t> writer_;  // by slot
  std::vector<uint16_t> open_, certain_;
};

}  // namespace

std::vector<uint16_t> CertainTasks(const bus::PlanIndex& index, const wf_workflow& workflow) { return Walk(index).From(workflow.root); }

bool EveryWorkflowNeedsAModel(const bus::PlanIndex& index) {
  const wf_plan& plan = index.plan();
  return std::all_of(plan.workflows, plan.workflows + plan.n_workflows, [&](const wf_workflow& workflow) {
    const std::vector<uint16_t> certain = CertainTasks(index, workflow);
    return std::any_of(certain.begin(), certain.end(), [&](uint16_t id) { return plan.tasks[id].kind == WF_MODEL; });
  });
}

}  // namespace wf::sched
