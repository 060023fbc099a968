#pragma once

#include <string>
#include <vector>

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// `wfc doc`: the services of a .wf file or a server, and the modules of the standard library that the file imports; or `std`, `std.nn`: the
// library itself. Markdown, to stdout.
int WriteReference(const Options& options, Console& console);

std::vector<std::string> LibraryModules(const Console& console);  // `std.nn`, by name

}  // namespace wf::driver
