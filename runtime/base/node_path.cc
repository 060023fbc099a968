#include "runtime/base/node_path.h"

#include <algorithm>

namespace wf::base {

std::string NodePath(std::string_view node, std::span<const FanOutElement> around) {
  std::string path(node);
  // Innermost first, so that an insertion does not move the places of the others.
  for (size_t i = std::min(around.size(), kMostElementsNamed); i-- > 0;) {
    const std::string_view outer = around[i].node;
    const bool is_prefix =
        path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/' || path[outer.size()] == '[');
    if (is_prefix) path.insert(outer.size(), "[" + std::to_string(around[i].number) + "]");
  }
  return path;
}

}  // namespace wf::base
