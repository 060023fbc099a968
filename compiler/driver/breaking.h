#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// `wfc breaking`: every change from `--against` to the input, and what it is in SemVer. kProgramHasErrors: one breaks clients, or one of
// the two interfaces cannot be read.
int ReportBreaking(const Options& options, Console& console);

}  // namespace wf::driver
