#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// Loads a server, or one that is built from a program for it, and reports what came back. Exit status 1 when nothing was answered below
// 400.
int Bench(const Options& options, Console& console);

}  // namespace wf::driver
