#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// `wfc export`: a service of the input, to stdout.
int ExportService(const Options& options, Console& console);

}  // namespace wf::driver
