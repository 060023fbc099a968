#pragma once

#include <string>

#include "runtime/base/status.h"

namespace wf::source {

// What the system says went wrong, with the code of base::CodeOfErrno.
base::Status StatusOfErrno(int error);
// Of a new file at `path`: what is missing is its folder, unless that takes no files, as /proc.
base::Status StatusOfCreation(int error, const std::string& path);

}  // namespace wf::source
