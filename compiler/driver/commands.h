#pragma once

#include <string>
#include <vector>

#include "compiler/driver/console.h"

namespace wf::driver {

// wfc: `arguments` without the program's name. Returns the exit status.
int RunWfc(const std::vector<std::string>& arguments, Console& console);

}  // namespace wf::driver
