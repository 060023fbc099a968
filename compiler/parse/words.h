#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wf::parse {

std::vector<std::string> Keywords();  // in the order of the grammar
bool IsName(std::string_view text);   // a NAME, and no keyword

}  // namespace wf::parse
