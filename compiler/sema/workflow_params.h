#pragma once

#include "compiler/sema/check_expr.h"

namespace wf::sema {

// Parameters of a workflow as the outside gives them: names on the wire, defaults, where each dimension symbol is read from, and the checks
// that a request's shapes agree.
void ReadWorkflowParams(Body& body, const ast::WorkflowDecl& decl, Signature& signature, Workflow& out);

}  // namespace wf::sema
