#include "runtime/bus/failure.h"

namespace wf::bus {

const Failure Channel::kReady{.code = 0};
const Failure kOutOfMemory{.code = kMemoryCap, .message = "the request needs more memory than it may have"};
const Failure kWithdrawn{.code = kCancelled, .message = "cancelled"};

std::string PathOf(const wf_plan& plan, const Failure& failure) {
  if (failure.node == WF_NONE || failure.node >= plan.n_nodes) return {};
  const auto text_of = [&plan](uint16_t node) {
    const wf_bytes& path = plan.nodes[node].path;
    return std::string_view(reinterpret_cast<const char*>(path.ptr), path.len);
  };
  std::string path(text_of(failure.node));
  // Innermost first, so that an insertion does not move the places of the others.
  for (int i = failure.n_crumbs - 1; i >= 0; --i) {
    const std::string_view outer = text_of(failure.crumbs[i].node);
    const bool is_prefix =
        path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '/' || path[outer.size()] == '[');
    if (is_prefix) path.insert(outer.size(), "[" + std::to_string(failure.crumbs[i].element) + "]");
  }
  return path;
}

}  // namespace wf::bus
