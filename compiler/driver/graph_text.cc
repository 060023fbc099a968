#include <fmt/format.h>

#include <algorithm>

#include "compiler/diag/excerpt.h"
#include "compiler/driver/graph.h"
#include "compiler/ir/policy_text.h"
#include "compiler/load/duration.h"

namespace wf::driver {
namespace {

void Ports(std::string_view word, const std::vector<Graph::Port>& ports, std::string& text) {
  for (size_t at = 0; at < ports.size(); ++at) text += fmt::format("  {:<4} {}\n", at == 0 ? word : "", Spelling(ports[at]));
}

void Tasks(const std::vector<Graph::Task>& tasks, size_t indent, std::string& text) {
  for (const Graph::Task& task : tasks) {
    text += fmt::format("{:{}}{} {}", "", indent, task.id, task.kind);
    if (!task.what.empty()) text += " " + task.what;
    if (!task.reads.empty()) text += fmt::format(" ← {}", fmt::join(task.reads, ", "));
    if (!task.inside.empty()) text += " in " + task.inside;
    if (!task.marks.empty()) text += fmt::format(" ({})", fmt::join(task.marks, ", "));
    text += "\n";
  }
}

void Measured(const std::vector<Graph::Measured>& measured, size_t indent, std::string& text) {
  std::string joined;
  for (const Graph::Measured& one : measured) joined += (joined.empty() ? "" : " · ") + Spelling(one);
  if (!joined.empty()) text += fmt::format("{:{}}took {}\n", "", indent, joined);
}

// Of a node or a control: what must have let it run, and the blocks around it.
std::string Conditions(const auto& one) {
  std::vector<std::string> after;
  for (const std::string& name : one.after) {
    const auto is_around = [&](const std::string& block) { return block == name || block == "else of " + name; };
    if (std::none_of(one.inside.begin(), one.inside.end(), is_around)) after.push_back(name);
  }
  std::string text = after.empty() ? "" : fmt::format("  ⇠ {}", fmt::join(after, ", "));
  return one.inside.empty() ? text : text + fmt::format("  in {}", fmt::join(one.inside, ", "));
}

void Controls(const std::vector<Graph::Control>& controls, std::string& text) {
  for (const Graph::Control& control : controls) {
    text += "  " + control.name;
    if (!control.reads.empty()) text += fmt::format("  ← {}", fmt::join(control.reads, ", "));
    text += Conditions(control) + "\n";
  }
}

void Node(const Graph::Node& node, size_t width, Level level, std::string& text) {
  std::string line = fmt::format("    {:<{}}", node.name, width);
  if (!node.reads.empty()) line += fmt::format("  ← {}", fmt::join(node.reads, ", "));
  line += Conditions(node);
  if (!node.models.empty()) line += fmt::format("  model {}", fmt::join(node.models, ", "));
  if (node.fallback) line += "  else …";
  text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  if (!node.settings.empty()) text += fmt::format("      {}\n", ir::Joined(node.settings));
  for (const Graph::Call& call : node.calls) text += fmt::format("      {}\n", Spelling(call));
  Measured(node.measured, 6, text);
  if (level == Level::kTask) Tasks(node.tasks, 6, text);
}

void Stage(const Graph::Stage& stage, Level level, std::string& text) {
  if (!stage.name.empty()) {
    text += fmt::format("  stage {}{}", stage.name, stage.written ? "" : " (inferred)");
    if (!stage.after.empty()) text += fmt::format("  ← {}", fmt::join(stage.after, ", "));
    if (!stage.waits.empty()) text += fmt::format("  ⇠ {}", fmt::join(stage.waits, ", "));
    text += "\n";
    Measured(stage.measured, 4, text);
  }
  if (level == Level::kStage) {
    std::vector<std::string> names;
    for (const Graph::Node& node : stage.nodes) names.push_back(node.name);
    text += fmt::format("    {}\n", fmt::join(names, ", "));
    return;
  }
  size_t width = 0;
  for (const Graph::Node& node : stage.nodes) width = std::max(width, node.name.size());
  for (const Graph::Node& node : stage.nodes) Node(node, width, level, text);
}

}  // namespace

std::string Spelling(const Graph::Workflow& workflow) {
  return workflow.service.empty() ? workflow.name : workflow.service + "/" + workflow.name;
}

std::string Spelling(const Graph::Port& port) {
  const std::string mark = port.required || !port.default_value.empty() || port.type.ends_with('?') ? "" : " (optional)";
  return fmt::format("{}: {}{}{}", diag::OneLine(port.name), port.type, port.default_value.empty() ? "" : " = " + port.default_value, mark);
}

std::string Spelling(const Graph::Call& call) { return fmt::format("{}: {}", call.model, ir::Joined(call.settings)); }

std::string Spelling(const Graph::Measured& measured) {
  const std::string of = measured.of.empty() ? "" : fmt::format(" of {}", fmt::join(measured.of, ", "));
  return fmt::format("{} {} x {}{}", measured.what, load::Duration(measured.seconds * 1e9), measured.count, of);
}

std::vector<std::string> LinesOf(const Graph::Node& node) {
  std::vector<std::string> lines = {node.name};
  if (!node.models.empty()) lines.push_back(fmt::format("model {}", fmt::join(node.models, ", ")));
  for (const auto& [name, value] : node.settings) lines.push_back(name + " " + value);
  for (const Graph::Call& call : node.calls) lines.push_back(Spelling(call));
  for (const Graph::Measured& one : node.measured) lines.push_back(Spelling(one));
  for (const std::string& block : node.inside) lines.push_back("in " + block);
  return lines;
}

std::vector<std::string> LinesOf(const Graph::Control& control) {
  std::vector<std::string> lines = {control.name};
  for (const std::string& block : control.inside) lines.push_back("in " + block);
  return lines;
}

std::string GraphText(const Graph& graph, Level level) {
  std::string text;
  for (const Graph::Workflow& workflow : graph.workflows) {
    if (!text.empty()) text += "\n";
    text += fmt::format("{}{}\n", Spelling(workflow), workflow.is_default ? " (default)" : "");
    Ports("in", workflow.in, text);
    Ports("out", workflow.out, text);
    if (!workflow.settings.empty()) text += fmt::format("  {}\n", ir::Joined(workflow.settings));
    Measured(workflow.measured, 2, text);
    if (level == Level::kWorkflow) continue;
    for (const Graph::Stage& stage : workflow.stages) Stage(stage, level, text);
    if (level == Level::kNode) Controls(workflow.controls, text);
    if (level == Level::kTask) Tasks(workflow.own_tasks, 2, text);
  }
  return text.empty() ? "nothing is published\n" : text;
}

}  // namespace wf::driver
