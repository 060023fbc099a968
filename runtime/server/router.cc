#include "runtime/server/router.h"

#include <algorithm>

#include "runtime/abi/view.h"
#include "runtime/base/name_parts.h"

namespace wf::server {

Router::Router(const wf_plan& plan) {
  paths_.reserve(plan.n_workflows);
  for (uint32_t i = 0; i < plan.n_workflows; ++i) {
    const wf_workflow& workflow = plan.workflows[i];
    paths_.push_back("/" + std::string(abi::View(workflow.service)) + "/" + std::string(abi::View(workflow.name)));
    by_path_.emplace(paths_.back(), &workflow);
    services_ = std::max<size_t>(services_, workflow.service_index + size_t{1});
  }
}

const wf_workflow* Router::Find(std::string_view path) const {
  const auto found = by_path_.find(path);
  return found == by_path_.end() ? nullptr : found->second;
}

std::string_view Router::Nearest(std::string_view path) const {
  const std::vector<std::string_view> candidates(paths_.begin(), paths_.end());
  return base::NearestOfParts(path, candidates, '/');
}

}  // namespace wf::server
