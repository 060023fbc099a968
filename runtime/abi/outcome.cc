#include "runtime/abi/outcome.h"

namespace wf::abi {
namespace {

bool Decides(const wf_task& task) { return (task.flags & WF_CONTROL) != 0 || task.kind == WF_RETURN; }
bool Catches(const wf_plan& plan, const wf_task& task) { return task.kind == WF_ENTER && plan.regions[task.target].on_error != WF_NONE; }

}  // namespace

std::vector<uint8_t> FlowRegions(const wf_plan& plan) {
  std::vector<uint8_t> is_flow(plan.n_regions, 0), is_arm(plan.n_regions, 0);
  for (uint32_t i = 0; i < plan.n_tasks; ++i) {
    const wf_task& task = plan.tasks[i];
    if (task.kind != WF_SELECT || task.out != WF_NONE) continue;
    for (uint16_t k = 0; k < task.n_targets; ++k) is_arm[task.target + k] = 1;
  }
  for (uint32_t i = 0; i < plan.n_regions; ++i) {
    auto region = static_cast<uint16_t>(i);
    while (is_arm[region] != 0) region = plan.regions[region].parent;
    is_flow[i] = plan.regions[region].parent == WF_NONE;
  }
  return is_flow;
}

// What waits for a task mostly stands behind it, so that one turn from the last to the first finds all, and another that nothing is left.
std::vector<uint8_t> OutcomeTasks(const wf_plan& plan) {
  const std::vector<uint8_t> is_flow = FlowRegions(plan);
  std::vector<uint8_t> is_outcome(plan.n_tasks, 0);
  for (uint32_t i = 0; i < plan.n_tasks; ++i)
    is_outcome[i] =
        is_flow[plan.tasks[i].region] != 0 && !Catches(plan, plan.tasks[i]) && (Decides(plan.tasks[i]) || plan.tasks[i].n_next > 0);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (uint32_t i = plan.n_tasks; i-- > 0;) {
      const wf_task& task = plan.tasks[i];
      if (is_outcome[i] == 0 || Decides(task)) continue;
      for (uint16_t k = 0; k < task.n_next; ++k) {
        if (is_outcome[task.next[k]] != 0) continue;
        is_outcome[i] = 0;
        has_changed = true;
        break;
      }
    }
  }
  return is_outcome;
}

}  // namespace wf::abi
