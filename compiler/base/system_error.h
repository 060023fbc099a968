#pragma once

#include "runtime/base/status.h"

namespace wf::source {

// What the system says went wrong, with a code: kNotFound, kPermissionDenied, kResourceExhausted (no room), else kUnavailable.
base::Status StatusOfErrno(int error);
base::Status StatusOfCreation(int error);  // of a new file: what is missing is its folder

}  // namespace wf::source
