#pragma once

#include <string>

#include "runtime/base/status.h"

namespace wf::base {

// What the system says went wrong, in our words: "no such file", "permission denied", "no space left on device".
std::string TextOfErrno(int error);
// kNotFound, kPermissionDenied, kResourceExhausted (no room), else kUnavailable.
StatusCode CodeOfErrno(int error);

}  // namespace wf::base
