#pragma once

#include <string>

namespace wf::driver {

// Where things are, seen from the wfc binary: in a build tree, and after installation.
// `executable`: absolute path of wfc. The answer ends with a slash.
std::string StdlibFolder(const std::string& executable);
std::string ErrorPagesFolder(const std::string& executable);  // empty: there is none

}  // namespace wf::driver
