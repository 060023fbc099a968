#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace wf::driver {

// A request that the workflow's signature accepts: the whole curl line. Parameters with a default take it; a single parameter of bytes is
// sent as the body.
// `url`: of the server, "http://127.0.0.1:8080".
std::string SampleCall(const ir::Program& program, const ir::Workflow& workflow, const std::string& url);

}  // namespace wf::driver
