#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "compiler/ir/ir.h"

namespace wf::passes {

struct PassInfo {
  std::string_view flag, help;
};
std::span<const PassInfo> AllPasses();  // in the order in which they run

// Runs every pass. `after` is called with the flag of each when it is done, for --dump-after; it may be empty.
// A pass that breaks the program's rules is our bug: WF_CHECK.
void Run(ir::Program& program, const std::function<void(std::string_view flag, const ir::Program&)>& after = {});

// The passes themselves: docs/ir.md says what a program may look like before and after.
void Fold(ir::Program& program);
void Fuse(ir::Program& program);
void RemoveDead(ir::Program& program);
void ProveRanges(ir::Program& program);
void ExpandMath(ir::Program& program);
void MergeAxes(ir::Program& program);
void Hoist(ir::Program& program);
void Tabulate(ir::Program& program);
void SplitChecks(ir::Program& program);
void EstimateCost(ir::Program& program);
void ShareExtents(ir::Program& program);
void FormStrands(ir::Program& program);

}  // namespace wf::passes
