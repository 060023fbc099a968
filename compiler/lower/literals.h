#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Of one task, by ValueId; empty: there are none.
using TaskLiterals = std::vector<bool>;

// The float literals in which tasks with loops differ that are otherwise written alike. Read from each task's table (Places), they leave
// one function for all of these tasks. Those stay constants whose value LLVM or lower makes faster code of: 0, 1 and -1, divisors that are
// a power of two, and whatever is not only added, multiplied or divided. By task.   Cost: linear.
std::vector<TaskLiterals> FindLiterals(const ir::Program& program);

}  // namespace wf::lower
