#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace wf::link {

struct Options {
  std::string output;                     // path of the server
  std::string runtime_dir;                // holds libwf_runtime.a and wf_link.txt; empty: FindRuntime()
  std::vector<std::string> objects = {};  // beside the plan's: of externs
  bool strip = true;
};

// Links a plan's objects with the runtime archive. The output appears whole or not at all: it is written beside its place, then renamed.
// Errors: kNotFound: the runtime archive or wf_link.txt is missing or cannot be read; kPermissionDenied or kResourceExhausted: `output`
// cannot be written (the message is the reason alone); kInternal: the linker's own words.   Thread: any.
base::Status Link(const std::vector<std::string>& plan, const Options& options);

// WFC_RUNTIME_DIR, else ../lib beside this program, where a build and an installation have it.
std::string FindRuntime();

}  // namespace wf::link
