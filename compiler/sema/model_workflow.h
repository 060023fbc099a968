#pragma once

#include "compiler/sema/typed.h"

namespace wf::sema {

// The workflow that a model published without one stands for: its ports are those of the model, one node calls it (docs/semantics.md 10).
Workflow WorkflowOf(const Model& model, uint32_t index);

// What metrics and plans call a model: its own name, or the qualified one where another module's model has that name.
std::string NameIn(const Program& program, const Model& model);

}  // namespace wf::sema
