#include "runtime/protocol/oip/names.h"

#include <algorithm>
#include <vector>

#include "runtime/abi/view.h"
#include "runtime/base/text.h"

namespace wf::oip {
namespace {

std::string Text(wf_bytes text) { return std::string(abi::View(text)); }

// The next segment of a path; the slash after it goes too.
std::string_view Take(std::string_view* rest) {
  const size_t slash = std::min(rest->find('/'), rest->size());
  const std::string_view segment = rest->substr(0, slash);
  rest->remove_prefix(std::min(slash + 1, rest->size()));
  return segment;
}

}  // namespace

Route ParsePath(std::string_view path) {
  if (path == "/v2" || path == "/v2/") return {Call::kServerMetadata, {}, {}};
  if (!path.starts_with("/v2/")) return {};
  if (path == "/v2/health/live") return {Call::kServerLive, {}, {}};
  if (path == "/v2/health/ready") return {Call::kServerReady, {}, {}};
  std::string_view rest = path.substr(4);
  if (Take(&rest) != "models") return {};
  Route route{Call::kModelMetadata, Take(&rest), {}};
  if (route.model.empty()) return {};
  std::string_view last = Take(&rest);
  if (last == "versions") {
    route.version = Take(&rest);
    if (route.version.empty()) return {};
    last = Take(&rest);
  }
  if (!rest.empty()) return {};
  if (last == "ready")
    route.call = Call::kModelReady;
  else if (last == "infer")
    route.call = Call::kInfer;
  else if (!last.empty())
    return {};
  return route;
}

Names::Names(const wf_plan& plan) {
  std::map<std::string, int> owners;  // workflows of a name
  for (uint32_t i = 0; i < plan.n_workflows; ++i) {
    const wf_workflow& workflow = plan.workflows[i];
    by_name_.emplace(Text(workflow.service) + "." + Text(workflow.name), &workflow);
    if (workflow.is_default != 0) by_name_.emplace(Text(workflow.service), &workflow);
    ++owners[Text(workflow.name)];
  }
  // A service's own name comes before a workflow that happens to be called the same.
  for (uint32_t i = 0; i < plan.n_workflows; ++i) {
    const wf_workflow& workflow = plan.workflows[i];
    if (owners[Text(workflow.name)] == 1) by_name_.emplace(Text(workflow.name), &workflow);
  }
}

const Names::Entry* Names::Find(std::string_view model) const {
  const auto found = by_name_.find(model);
  return found == by_name_.end() ? nullptr : &*found;
}

std::string_view Names::Nearest(std::string_view model) const {
  std::vector<std::string_view> candidates;
  for (const auto& [name, workflow] : by_name_) candidates.push_back(name);
  return base::Nearest(model, candidates);
}

}  // namespace wf::oip
