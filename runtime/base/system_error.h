#pragma once

#include <string>

namespace wf::base {

// What the system says went wrong, in our words: "no such file", "permission denied", "no space left on device".
std::string TextOfErrno(int error);

}  // namespace wf::base
