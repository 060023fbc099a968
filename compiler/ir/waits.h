#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace wf::ir {

// For each task, those whose end it waits for, ascending: writers of the slots in `in` and `settled`, and `after`. A slot of an enclosing
// region counts unless a task that enters a region in between reads it, too: it has then settled before the region is entered.
std::vector<std::vector<TaskId>> WaitsOf(const Program& program);

// For each region, the task that enters it, the fallback region of an attempt included; kNone: a root.
std::vector<TaskId> EnteredBy(const Program& program);

}  // namespace wf::ir
