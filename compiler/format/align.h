#pragma once

#include <string>
#include <vector>

namespace wf::format {

// `text` with the trailing comments of neighbouring lines moved to one column. `comments`: where in the text they begin, in order.
std::string AlignComments(std::string text, const std::vector<size_t>& comments);

}  // namespace wf::format
