#pragma once

#include <string>

#include "runtime/base/status.h"

namespace wf::base {

// What the system says went wrong, in our words: "no such file", "permission denied", "no space left on device".
std::string TextOfErrno(int error);
// kNotFound, kPermissionDenied, kResourceExhausted (no room), else kUnavailable.
StatusCode CodeOfErrno(int error);
Status StatusOfErrno(int error);  // both
// Of a new file at `path`: what is missing is its folder, unless that takes no files, as /proc, or is none.
Status StatusOfCreation(int error, const std::string& path);

}  // namespace wf::base
