#include <fmt/format.h>

#include "compiler/driver/graph.h"
#include "runtime/base/json_text.h"

namespace wf::driver {
namespace {

std::string Strings(const std::vector<std::string>& texts) {
  std::string json;
  for (const std::string& text : texts) json += (json.empty() ? "" : ",") + base::QuoteJson(text);
  return "[" + json + "]";
}

std::string SettingsJson(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string json;
  for (const auto& [name, value] : settings)
    json += fmt::format("{}{}:{}", json.empty() ? "" : ",", base::QuoteJson(name), base::QuoteJson(value));
  return "{" + json + "}";
}

template <typename T, typename F>
std::string Array(const std::vector<T>& items, const F& each) {
  std::string json;
  for (const T& item : items) json += (json.empty() ? "" : ",") + each(item);
  return "[" + json + "]";
}

// A member, with its comma; nothing where nothing was measured.
std::string MeasuredJson(const std::vector<Graph::Measured>& measured) {
  if (measured.empty()) return "";
  return R"(,"measured":)" + Array(measured, [](const Graph::Measured& one) {
           const std::string of = one.of.empty() ? "" : R"(,"of":)" + Strings(one.of);
           return fmt::format(R"({{"what":{},"mean_seconds":{},"count":{}{}}})", base::QuoteJson(one.what), one.seconds, one.count, of);
         });
}

// A member, with its comma; nothing where the settings of the node are all.
std::string CallsJson(const std::vector<Graph::Call>& calls) {
  if (calls.empty()) return "";
  return R"(,"calls":)" + Array(calls, [](const Graph::Call& call) {
           return fmt::format(R"({{"model":{},"settings":{}}})", base::QuoteJson(call.model), SettingsJson(call.settings));
         });
}

std::string PortJson(const Graph::Port& port) {
  std::string json =
      fmt::format(R"({{"name":{},"type":{},"required":{})", base::QuoteJson(port.name), base::QuoteJson(port.type), port.required);
  if (!port.default_value.empty()) json += fmt::format(R"(,"default":{})", base::QuoteJson(port.default_value));
  return json + "}";
}

std::string TaskJson(const Graph::Task& task) {
  return fmt::format(R"({{"id":{},"kind":{},"what":{},"reads":{},"inside":{},"marks":{}}})", base::QuoteJson(task.id),
                     base::QuoteJson(task.kind), base::QuoteJson(task.what), Strings(task.reads),
                     task.inside.empty() ? "null" : base::QuoteJson(task.inside), Strings(task.marks));
}

std::string NodeJson(const Graph::Node& node, Level level) {
  std::string json =
      fmt::format(R"({{"name":{},"path":{},"line":{},"reads":{},"after":{},"inside":{},"models":{},"settings":{},"fallback":{})",
                  base::QuoteJson(node.name), base::QuoteJson(node.path), node.line, Strings(node.reads), Strings(node.after),
                  Strings(node.inside), Strings(node.models), SettingsJson(node.settings), node.fallback) +
      CallsJson(node.calls) + MeasuredJson(node.measured);
  if (level == Level::kTask) json += R"(,"tasks":)" + Array(node.tasks, TaskJson);
  return json + "}";
}

std::string ControlJson(const Graph::Control& control) {
  return fmt::format(R"({{"name":{},"line":{},"reads":{},"after":{},"inside":{}}})", base::QuoteJson(control.name), control.line,
                     Strings(control.reads), Strings(control.after), Strings(control.inside));
}

std::string StageJson(const Graph::Stage& stage, Level level) {
  std::string json = fmt::format(R"({{"name":{},"written":{},"after":{},"waits":{})", base::QuoteJson(stage.name), stage.written,
                                 Strings(stage.after), Strings(stage.waits)) +
                     MeasuredJson(stage.measured);
  if (level == Level::kStage) {
    json += R"(,"nodes":)" + Array(stage.nodes, [](const Graph::Node& node) { return base::QuoteJson(node.name); });
  } else {
    json += R"(,"nodes":)" + Array(stage.nodes, [&](const Graph::Node& node) { return NodeJson(node, level); });
  }
  return json + "}";
}

std::string WorkflowJson(const Graph::Workflow& workflow, Level level) {
  std::string json = fmt::format(R"({{"service":{},"name":{},"default":{},"in":{},"out":{},"settings":{})",
                                 base::QuoteJson(workflow.service), base::QuoteJson(workflow.name), workflow.is_default,
                                 Array(workflow.in, PortJson), Array(workflow.out, PortJson), SettingsJson(workflow.settings)) +
                     MeasuredJson(workflow.measured);
  if (level != Level::kWorkflow) {
    json += R"(,"stages":)" + Array(workflow.stages, [&](const Graph::Stage& stage) { return StageJson(stage, level); });
  }
  if (level == Level::kNode || level == Level::kTask) json += R"(,"controls":)" + Array(workflow.controls, ControlJson);
  if (level == Level::kTask) json += R"(,"tasks":)" + Array(workflow.own_tasks, TaskJson);
  return json + "}";
}

}  // namespace

std::string GraphJson(const Graph& graph, Level level) {
  const auto workflow = [&](const Graph::Workflow& one) { return WorkflowJson(one, level); };
  return fmt::format(R"({{"source":{},"workflows":{}}})", base::QuoteJson(graph.source), Array(graph.workflows, workflow));
}

}  // namespace wf::driver
