#include "runtime/protocol/oip/names.h"

#include <algorithm>
#include <vector>

#include "runtime/abi/view.h"
#include "runtime/base/name_parts.h"

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

Call CallOf(std::string_view last) {
  if (last.empty()) return Call::kModelMetadata;
  if (last == "ready") return Call::kModelReady;
  if (last == "infer") return Call::kInfer;
  if (last == "config") return Call::kModelConfig;
  return last == "stats" ? Call::kStatistics : Call::kNone;
}

// Behind /v2/models/.
Route ParseModel(std::string_view rest) {
  if (rest == "stats") return {Call::kStatistics, {}, {}};
  Route route{Call::kNone, Take(&rest), {}};
  if (route.model.empty()) return {};
  if (rest == "trace/setting") return {Call::kTrace, route.model, {}};
  std::string_view last = Take(&rest);
  if (last == "versions") {
    route.version = Take(&rest);
    if (route.version.empty()) return {};
    last = Take(&rest);
  }
  if (!rest.empty()) return {};
  route.call = CallOf(last);
  return route.call == Call::kNone ? Route() : route;
}

// Behind /v2/repository/.
Route ParseRepository(std::string_view rest) {
  if (rest == "index") return {Call::kIndex, {}, {}};
  if (Take(&rest) != "models") return {};
  const std::string_view model = Take(&rest);
  if (model.empty() || (rest != "load" && rest != "unload")) return {};
  return {rest == "load" ? Call::kLoad : Call::kUnload, model, {}};
}

}  // namespace

Route ParsePath(std::string_view path) {
  if (path == "/v2") return {Call::kServerMetadata, {}, {}};
  if (!path.starts_with("/v2/") || path.ends_with('/')) return {};
  std::string_view rest = path.substr(4);
  if (rest == "health/live") return {Call::kServerLive, {}, {}};
  if (rest == "health/ready") return {Call::kServerReady, {}, {}};
  if (rest == "trace/setting") return {Call::kTrace, {}, {}};
  if (rest == "logging") return {Call::kLog, {}, {}};
  const std::string_view first = Take(&rest);
  if (first == "models") return ParseModel(rest);
  if (first == "repository") return ParseRepository(rest);
  if (first == "systemsharedmemory" || first == "cudasharedmemory") return {Call::kSharedMemory, {}, {}};
  return {};
}

bool NamesModel(Call call) {
  constexpr Call kCalls[] = {Call::kModelMetadata, Call::kModelReady, Call::kModelConfig, Call::kInfer, Call::kLoad, Call::kUnload};
  return std::find(std::begin(kCalls), std::end(kCalls), call) != std::end(kCalls);
}

Verb VerbOf(Call call) {
  switch (call) {
    case Call::kInfer:
    case Call::kIndex:
    case Call::kLoad:
    case Call::kUnload:
      return Verb::kPost;
    case Call::kTrace:
    case Call::kLog:
    case Call::kSharedMemory:
      return Verb::kEither;
    case Call::kNone:
    case Call::kServerMetadata:
    case Call::kServerLive:
    case Call::kServerReady:
    case Call::kModelMetadata:
    case Call::kModelReady:
    case Call::kModelConfig:
    case Call::kStatistics:
      return Verb::kGet;
  }
  return Verb::kGet;
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

std::vector<std::string> Names::All() const {
  std::vector<std::string> names;
  for (const auto& [name, workflow] : by_name_) {
    if (name == Text(workflow->service) + "." + Text(workflow->name)) names.push_back(name);
  }
  return names;
}

std::string_view Names::Nearest(std::string_view model) const {
  std::vector<std::string_view> candidates;
  for (const auto& [name, workflow] : by_name_) candidates.push_back(name);
  return base::NearestOfParts(model, candidates, '.');
}

}  // namespace wf::oip
