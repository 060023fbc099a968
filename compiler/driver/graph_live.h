#pragma once

#include <string>

#include "compiler/driver/graph.h"
#include "runtime/base/status.h"

namespace wf::driver {

// Adds what a running server has measured of the graph's workflows, and of the stages and nodes of those that were called: several that
// serve one workflow share them. Settings of nodes that its configuration has changed are those that are in force there.
// `url` is that of its admin address. Errors: the URL is none; nothing listens there, or it tells no metrics; none of them is of this
// program.
base::Status AddMeasured(const std::string& url, Graph& graph);

}  // namespace wf::driver
