#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// `wfc run --watch`: serves, and builds anew when a file that the program is made of changes. Both servers hold one listening socket, so
// the old one answers until the new one listens; it then ends what it has begun. A program with mistakes, or a server that does not start,
// leaves the old one in place. Until a signal that ends wfc, which goes on to the servers; returns the last one's exit status.
int Watch(const Options& options, Console& console);

}  // namespace wf::driver
