#pragma once

#include <string>
#include <string_view>

namespace wf {

// The absolute path of `below` ("examples/", "stdlib/") in the tree that the tests were built from; any thread.
std::string SourcePath(std::string_view below);

}  // namespace wf
