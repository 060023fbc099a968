#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// By ValueId: is this a build whose elements nobody keeps beyond the block that makes it? Such a tensor may lie on the stack or in memory
// that the next turn of a loop uses again.
std::vector<bool> FindLocalBuilds(const ir::Program& program, const ir::Body& body);

}  // namespace wf::lower
