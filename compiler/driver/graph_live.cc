#include "compiler/driver/graph_live.h"

#include <fmt/format.h>

#include "compiler/load/fetch.h"
#include "compiler/load/server_times.h"
#include "compiler/load/target.h"

namespace wf::driver {
namespace {

constexpr int64_t kFetchNs = 5'000'000'000;

void Add(std::string_view what, const load::Total& total, std::vector<Graph::Measured>& measured) {
  if (total.count > 0) measured.push_back({std::string(what), total.mean(), static_cast<uint64_t>(total.count)});
}

template <typename T>
T Find(const std::map<std::pair<std::string, std::string>, T>& times, const std::string& first, const std::string& second) {
  const auto found = times.find({first, second});
  return found == times.end() ? T() : found->second;
}

}  // namespace

base::Status AddMeasured(const std::string& url, Graph& graph) {
  auto target = load::ParseUrl(url);
  if (!target.ok()) return target.status();
  target->path = "/metrics";
  const auto metrics = load::Fetch(*target, kFetchNs);
  if (!metrics.ok())
    return {metrics.status().code(),
            fmt::format("no metrics of a server at {}, where its admin address is wanted: {}", url, metrics.status().message())};
  const load::ServerTimes times = load::ReadServerTimes(*metrics);
  bool knows_one = false;
  std::map<std::string, int> called;  // how many of a name
  for (const auto& [names, requests] : times.workflows) called[names.second] += requests.count > 0 ? 1 : 0;
  for (Graph::Workflow& workflow : graph.workflows) {
    knows_one = knows_one || times.workflows.contains({workflow.service, workflow.name});
    const load::Total requests = Find(times.workflows, workflow.service, workflow.name);
    Add("request", requests, workflow.measured);
    if (requests.count <= 0 || called[workflow.name] > 1) continue;  // those of stages and nodes do not say whose service they are of
    for (Graph::Stage& stage : workflow.stages) {
      Add("stage", Find(times.stages, workflow.name, stage.name), stage.measured);
      for (Graph::Node& node : stage.nodes) {
        const load::ServerTimes::Node of_node = Find(times.nodes, workflow.name, node.path);
        Add("compute", of_node.compute, node.measured);
        Add("queue", of_node.wait, node.measured);
      }
    }
  }
  return knows_one ? base::Status() : base::Status(base::kNotFound, fmt::format("the server at {} is of another program", url));
}

}  // namespace wf::driver
