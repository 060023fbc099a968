#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Of one task, by ValueId; empty: there are none.
using TaskLiterals = std::vector<bool>;

// The float literals and constant tensors in which tasks with loops differ that are otherwise written alike. Read from each task's table
// (Places), they leave one function for all of these tasks. Those stay constants whose value LLVM or lower makes faster code of: 0, 1 and
// -1, divisors that are a power of two, and literals that are not only added, multiplied or divided; and tensors, of which LLVM may read
// elements itself, unless many tasks differ in them. By task.   Cost: linear.
std::vector<TaskLiterals> FindLiterals(const ir::Program& program);

}  // namespace wf::lower
