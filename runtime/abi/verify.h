#pragma once

#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/status.h"

namespace wf::abi {

// Is the plan well formed (docs/plan_abi.md has the rules)? Called by wfc after lowering and by the server at start in debug builds; what
// runs plans relies on it and checks nothing again. Errors: kInternal, naming the table, the row and the rule that it breaks; the first one
// found.   Cost: linear in the tables.
base::Status Verify(const wf_plan& plan);

// The task of `ancestor` through which `region` is entered; WF_NONE when it is not inside. Linear in the depth times the tasks.
uint16_t EnteringTask(const wf_plan& plan, uint16_t region, uint16_t ancestor);

// The tasks of its own region that `task` holds up: those in its `next`, or through which what is in its `next` is entered.
std::vector<uint16_t> NextInRegion(const wf_plan& plan, uint16_t task);

}  // namespace wf::abi
