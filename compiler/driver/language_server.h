#pragma once

#include "compiler/driver/console.h"

namespace wf::driver {

// `wfc lsp`: talks to an editor over the process's own stdin and stdout until it leaves.
int ServeEditor(Console& console);

}  // namespace wf::driver
