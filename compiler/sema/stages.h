#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/sema/env.h"

namespace wf::sema {

// After the statements of a workflow are checked: drops what nothing needs (docs/semantics.md 3, 43), levels the nodes, and names the
// stages (docs/semantics.md 9). `written`: for each statement of the body its index into workflow.stages, or -1. Reports dependencies
// inside a written stage.
void FinishGraph(Env& env, Workflow& workflow, std::vector<int>& written);

// That `node` reads `other`, of its own stage.
void ReportStageDependency(Env& env, const std::string& node, const Span& span, const std::string& other, const Span& other_span);

}  // namespace wf::sema
