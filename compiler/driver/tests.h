#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// `wfc test`: compiles the `test` blocks of each file into an executable of their own, runs them there one after the other, and reports.
// A test that crashes the executable or outlasts its time is a failed one; the rest go on in a new process.
// Returns kProgramHasErrors if one failed or a file was not built.
int RunTests(const Options& options, Console& console);

// Names them with their places, and runs none.
int ListTests(const Options& options, Console& console);

}  // namespace wf::driver
