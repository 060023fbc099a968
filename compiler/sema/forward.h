#pragma once

#include <string>
#include <vector>

#include "compiler/sema/body.h"
#include "compiler/sema/cycles.h"

namespace wf::sema {

// "`a` needs itself: `a` uses `b`, `b` uses `a`", with a label at each of the others. `way`: from what `use` names to `wanted`.
diag::Builder ReportCycle(Env& env, const Span& use, const std::vector<Step>& way);

// A name that stands for nothing yet, but for a `let` or a node further down in a block that is being checked: reported as a cycle or as
// too early (docs/semantics.md 29), once for each name. False: there is no such thing.
bool ReportForwardLocal(Body& body, const std::string& name, const Span& use);

}  // namespace wf::sema
