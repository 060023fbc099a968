#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace wf::link {

// Runs lld's ELF linker in this process. Its state is global, so calls take turns; after a crash in it no further call succeeds.
// Errors: kInternal with what it printed. Only for objects that we wrote: lld trusts its input.   Thread: any.
base::Status RunLld(const std::vector<std::string>& arguments);

}  // namespace wf::link
