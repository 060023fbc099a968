#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// `wfc fmt`: each input laid out in the one style, on stdout, or where `-w` `--check` and `--diff` say. "-" is stdin. A file with mistakes
// of syntax is left as it is, and they are reported. kProgramHasErrors also when `--check` finds a file that is not formatted.
int FormatFiles(const Options& options, Console& console);

}  // namespace wf::driver
