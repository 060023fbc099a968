#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace wf::link {

// The functions of C++ that an object file holds and those that it wants of others, as people write them: "externs::area(wf::Context&,
// double)".
// Errors: of ReadSymbols, a file that cannot be read or is no object.
struct Symbols {
  std::vector<std::string> defined, missing;
};
base::Result<Symbols> ReadSymbols(const std::string& path);

}  // namespace wf::link
