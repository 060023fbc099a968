#include "compiler/driver/graph_live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/ir/policy_text.h"
#include "compiler/load/server_times.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

using Names = std::vector<std::string>;

void Add(std::string_view what, const load::Total& total, const Names& of, std::vector<Graph::Measured>& measured) {
  if (total.count > 0) measured.push_back({std::string(what), total.mean(), static_cast<uint64_t>(total.count), of});
}

template <typename T>
T Find(const std::map<std::pair<std::string, std::string>, T>& times, const std::string& first, const std::string& second) {
  const auto found = times.find({first, second});
  return found == times.end() ? T() : found->second;
}

std::string TextOf(const std::string& setting, const std::map<std::string, double>& in_force) {
  constexpr const char* kPriorities[] = {"high", "normal", "low"};
  const double value = in_force.at(setting);
  if (setting == "timeout") return base::DurationText(std::llround(value * base::kNsPerSecond));
  if (setting == "priority") return kPriorities[std::clamp(static_cast<int>(value), 0, 2)];
  std::string text = setting == "batch" && value == 0 ? "auto" : fmt::format("{}", std::llround(value));
  if (const auto within = in_force.find("within"); setting == "batch" && within != in_force.end() && within->second > 0)
    text += " within " + base::DurationText(std::llround(within->second * base::kNsPerSecond));
  return text;
}

// What `server.yml` has changed.
void AddInForce(const std::map<std::string, double>& in_force, Graph::Node& node) {
  for (const auto& [name, value] : in_force) {
    if (name == "within") continue;  // stands beside `batch`
    const std::string text = TextOf(name, in_force);
    const auto row =
        std::find_if(node.settings.begin(), node.settings.end(), [&name = name](const auto& each) { return each.first == name; });
    if (row == node.settings.end())
      ir::Merge(node.settings, {{name, text}});
    else
      row->second = text;
    for (Graph::Call& call : node.calls) std::erase_if(call.settings, [&name = name](const auto& each) { return each.first == name; });
    std::erase_if(node.calls, [](const Graph::Call& call) { return call.settings.empty(); });
  }
}

// Metrics of stages and nodes say where these stand in the program, not who serves them: `of` are those that were called and share them.
void AddInside(const load::ServerTimes& times, const Names& of, Graph::Workflow& workflow) {
  for (Graph::Stage& stage : workflow.stages) {
    Add("stage", Find(times.stages, stage.path, stage.name.substr(stage.name.rfind('/') + 1)), of, stage.measured);
    for (Graph::Node& node : stage.nodes) {
      const load::ServerTimes::Node of_node = Find(times.nodes, workflow.path, node.path);
      Add("compute", of_node.compute, of, node.measured);
      Add("queue", of_node.wait, of, node.measured);
    }
  }
}

}  // namespace

base::Status AddMeasured(const std::string& url, Graph& graph) {
  const auto asked = load::AskServer(url);
  if (!asked.ok()) return asked.status();
  const load::ServerTimes& times = *asked;
  const auto requests_of = [&times](const Graph::Workflow& workflow) { return Find(times.workflows, workflow.service, workflow.name); };
  bool knows_one = false;
  std::map<std::string, Names> called;  // by path
  for (const Graph::Workflow& workflow : graph.workflows) {
    knows_one = knows_one || times.workflows.contains({workflow.service, workflow.name});
    if (requests_of(workflow).count > 0) called[workflow.path].push_back(Spelling(workflow));
  }
  if (!knows_one) return {base::kNotFound, fmt::format("the server at {} is of another program", url)};
  for (Graph::Workflow& workflow : graph.workflows) {
    const load::Total requests = requests_of(workflow);
    Add("request", requests, {}, workflow.measured);
    for (Graph::Stage& stage : workflow.stages)
      for (Graph::Node& node : stage.nodes) AddInForce(Find(times.settings, workflow.path, node.path), node);
    const Names& of = called[workflow.path];
    if (requests.count > 0) AddInside(times, of.size() > 1 ? of : Names(), workflow);
  }
  return {};
}

}  // namespace wf::driver
