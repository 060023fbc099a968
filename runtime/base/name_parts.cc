#include "runtime/base/name_parts.h"

#include <algorithm>
#include <vector>

#include "runtime/base/ascii.h"
#include "runtime/base/text.h"

namespace wf::base {

std::string_view NearestOfParts(std::string_view name, std::span<const std::string_view> candidates, char separator) {
  std::vector<std::string_view> near;
  for (const std::string_view candidate : candidates) {
    size_t alike = 0;  // bytes, to the end of a separator
    for (size_t i = 0; i < std::min(name.size(), candidate.size()) && Lower(name[i]) == Lower(candidate[i]); ++i)
      if (name[i] == separator) alike = i + 1;
    const std::string_view rest = candidate.substr(alike);
    if (name.substr(alike) == rest || !Nearest(name.substr(alike), {&rest, 1}).empty()) near.push_back(candidate);
  }
  return Nearest(name, near);
}

}  // namespace wf::base
