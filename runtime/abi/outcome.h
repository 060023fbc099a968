#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::abi {

// By task: 1 where its failure can do nothing but end the request. It is a control point or a return in the flow of a root, or stands there
// and only such tasks wait for it: nothing catches it, and no `err` says which failure it was. It need not wait for earlier inputs when a
// later one has failed. REQUIRES: Verify(plan) is ok.   Cost: linear in the tables.
std::vector<uint8_t> OutcomeTasks(const wf_plan& plan);

// By region: 1 for a root, and for an arm of a statement `if` in such a region: its control points do not wait for each other.
std::vector<uint8_t> FlowRegions(const wf_plan& plan);

}  // namespace wf::abi
