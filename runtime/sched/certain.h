#pragma once

#include <cstdint>
#include <vector>

#include "runtime/bus/plan_index.h"

namespace wf::sched {

// The RUN and MODEL tasks that every request of the workflow has to wait for, if it is to succeed: those that its result is made of,
// whatever arm or fallback is taken. Fewer where that is hard to say: none behind a fallback or a timeout of their own, in arms or
// elements, or where several returns may end the workflow.
std::vector<uint16_t> CertainTasks(const bus::PlanIndex& index, const wf_workflow& workflow);

// No workflow can succeed without a model.
bool EveryWorkflowNeedsAModel(const bus::PlanIndex& index);

}  // namespace wf::sched
