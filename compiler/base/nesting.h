#pragma once

#include <string_view>

namespace wf::source {

// Whether the brackets of a JSON text nest no deeper than `depth`: LLVM's parser recurses over them.
bool NestsWithin(std::string_view json, int depth);

}  // namespace wf::source
