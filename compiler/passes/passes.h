#pragma once

#include <functional>
#include <string_view>

#include "compiler/ir/ir.h"

namespace wf::passes {

struct Options {
  bool verify = false;                                                        // after each pass; a broken rule is a bug and aborts
  std::function<void(std::string_view pass, const ir::Program&)> after = {};  // --dump-after
};

// All passes, in order. Cost: linear in the program, but for what fusion writes twice (bounded).
void RunPasses(ir::Program& program, const Options& options = {});
// The names of passes.def.
std::vector<std::string_view> PassNames();

// Each alone.
void Fold(ir::Program& program);
void RemoveDead(ir::Program& program);
void ProveRanges(ir::Program& program);
void Fuse(ir::Program& program);
void Hoist(ir::Program& program);
void ExpandMath(ir::Program& program);
void EstimateCosts(ir::Program& program);
void FormStrands(ir::Program& program);

}  // namespace wf::passes
