#pragma once

#include <string>

#include "compiler/driver/console.h"

namespace wf::driver {

// `wfc doctor`: a line for each thing that building and running servers needs, the last of them a server built, started and asked.
// kProgramHasErrors when one of them is missing.
int Examine(Console& console);

std::string VersionDetails(const std::string& executable);  // of `wfc --version --verbose`

}  // namespace wf::driver
