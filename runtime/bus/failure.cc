#include "runtime/bus/failure.h"

#include <utility>

#include "runtime/base/node_path.h"
#include "runtime/base/sink.h"

namespace wf::bus {

const Failure Channel::kReady{.code = 0};
const Failure kOutOfMemory{.code = code::kMemoryCap,
                           .message = "the request needs more memory than it may have (`limits.request_bytes`, `limits.memory_bytes`)"};
static_assert(wf_sink::kMaxBytes == size_t{256} << 20);
const Failure kTooLong{.code = code::kMemoryCap, .message = "the reply is larger than the 256 MiB that a reply may be"};
const Failure kNoRoom{
    .code = code::kRefused, .message = "there is no memory for it now: other requests have it, or the system has none", .for_memory = true};
const Failure kWithdrawn{.code = code::kCancelled, .message = "cancelled"};

bool Failure::Hide() const {
  const bool is_constant = this == &kOutOfMemory || this == &kTooLong || this == &kNoRoom || this == &kWithdrawn;
  return is_constant || !std::exchange(is_hidden, true);
}

std::string PathOf(const wf_plan& plan, const Failure& failure) {
  if (failure.node == WF_NONE || failure.node >= plan.n_nodes) return {};
  const auto text_of = [&plan](uint16_t node) {
    const wf_bytes& path = plan.nodes[node].path;
    return std::string_view(reinterpret_cast<const char*>(path.ptr), path.len);
  };
  static_assert(Failure::kMaxCrumbs == base::kMostElementsNamed);
  base::FanOutElement around[Failure::kMaxCrumbs];
  for (int i = 0; i < failure.n_crumbs; ++i) around[i] = {text_of(failure.crumbs[i].node), failure.crumbs[i].element};
  return base::NodePath(text_of(failure.node), {around, failure.n_crumbs});
}

}  // namespace wf::bus
