#pragma once

#include <span>
#include <string_view>

namespace wf::base {

// Nearest (text.h) for names of parts, as paths: parts in front that are alike count for nothing, else short names behind a long one would
// resemble each other.   Cost: as of Nearest.
std::string_view NearestOfParts(std::string_view name, std::span<const std::string_view> candidates, char separator);

}  // namespace wf::base
