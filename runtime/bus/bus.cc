#include "runtime/bus/bus.h"

#include <cstring>
#include <string>

#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/bus/instance.h"

namespace wf::bus {

void* Bus::frame(uint32_t sample) const {
  WF_CHECK(sample < n_samples, sample, n_samples);
  return roots[sample]->frame;
}

std::string_view Bus::PathOf(const Failure& failure) {
  if (failure.node == WF_NONE) return {};
  const std::string_view node = abi::View(plan_->nodes[failure.node].path);
  if (failure.n_crumbs == 0) return node;
  const std::string path = bus::PathOf(*plan_, failure);
  auto* const copy = static_cast<char*>(arena.AllocateToReport(path.size(), 1));
  if (copy == nullptr) return node;
  std::memcpy(copy, path.data(), path.size());
  return {copy, path.size()};
}

}  // namespace wf::bus
