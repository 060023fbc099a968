#pragma once

#include "compiler/lower/frames.h"
#include "compiler/lower/plan.h"

namespace wf::lower {

// The three functions of a workflow's row: find_in, read_json and write_json, written for its signature. in_ports: ports of these names,
// for messages; the same ones for all workflows whose ports are called so, whose functions are then equal and kept once (MergeEqualPass).
WorkflowFunctions EmitCodec(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, llvm::GlobalVariable* in_ports);

}  // namespace wf::lower
