#include <fmt/format.h>

#include "compiler/driver/graph.h"

namespace wf::driver {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += is_control ? std::string("\xef\xbf\xbd") : std::string(1, c);
  }
  return quoted + '"';
}

// Lines of a label: `\n` between them is dot's own escape.
std::string DotLabel(const std::vector<std::string>& lines) {
  std::string label = "\"";
  for (size_t at = 0; at < lines.size(); ++at) {
    const std::string quoted = Quoted(lines[at]);
    label += (at == 0 ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
  }
  return label + '"';
}

constexpr std::string_view kDashed = " [style=dashed]";

class DotWriter {
 public:
  DotWriter(const Graph& graph, Level level) : graph_(graph), level_(level) {}
  std::string Write();

 private:
  void Workflow(const Graph::Workflow& workflow);
  void Stages(const Graph::Workflow& workflow, const std::string& prefix);
  void Nodes(const Graph::Workflow& workflow, const std::string& prefix);
  void Node(const Graph::Node& node, const std::string& prefix);
  void Tasks(const std::vector<Graph::Task>& tasks, const std::string& prefix);
  void Wires(const std::string& prefix, const std::string& to, const std::vector<std::string>& from, std::string_view style = "") {
    for (const std::string& one : from) Line(fmt::format("{} -> {}{};", Quoted(prefix + one), Quoted(prefix + to), style));
  }
  void Line(std::string_view text) { out_ += std::string(2 * depth_, ' ') + std::string(text) + "\n"; }
  void Open(const std::string& name, std::string_view label) {
    Line(fmt::format("subgraph {} {{", Quoted("cluster " + name)));
    ++depth_;
    Line(fmt::format("label={};", Quoted(label)));
  }
  void Close() {
    --depth_;
    Line("}");
  }

  const Graph& graph_;
  const Level level_;
  std::string out_;
  size_t depth_ = 1;
};

void DotWriter::Tasks(const std::vector<Graph::Task>& tasks, const std::string& prefix) {
  for (const Graph::Task& task : tasks) {
    std::vector<std::string> lines = {task.id + " " + task.kind};
    if (!task.what.empty()) lines.push_back(task.what);
    Line(fmt::format("{} [label={}];", Quoted(prefix + task.id), DotLabel(lines)));
    Wires(prefix, task.id, task.reads);
    if (task.begins) Wires(prefix, task.id, {task.inside}, kDashed);
  }
}

void DotWriter::Node(const Graph::Node& node, const std::string& prefix) {
  if (level_ == Level::kTask) {
    Open(node.path, node.name);
    Tasks(node.tasks, prefix);
    Close();
    return;
  }
  Line(fmt::format("{} [label={}{}];", Quoted(prefix + node.name), DotLabel(LinesOf(node)), node.fallback ? ", style=dashed" : ""));
}

void DotWriter::Stages(const Graph::Workflow& workflow, const std::string& prefix) {
  for (const Graph::Stage& stage : workflow.stages) {
    std::vector<std::string> lines = {stage.name};
    for (const Graph::Node& node : stage.nodes) lines.push_back(node.name);
    for (const Graph::Measured& one : stage.measured) lines.push_back(Spelling(one));
    Line(fmt::format("{} [label={}];", Quoted(prefix + stage.name), DotLabel(lines)));
    Wires(prefix, stage.name, stage.after);
    Wires(prefix, stage.name, stage.waits, kDashed);
  }
}

void DotWriter::Nodes(const Graph::Workflow& workflow, const std::string& prefix) {
  for (const Graph::Stage& stage : workflow.stages) {
    if (!stage.name.empty()) Open(prefix + stage.name, stage.name);
    for (const Graph::Node& node : stage.nodes) Node(node, prefix);
    if (!stage.name.empty()) Close();
  }
  if (level_ == Level::kTask) {
    Tasks(workflow.own_tasks, prefix);
    return;
  }
  for (const Graph::Stage& stage : workflow.stages) {
    for (const Graph::Node& node : stage.nodes) {
      Wires(prefix, node.name, node.reads);
      Wires(prefix, node.name, node.after, kDashed);
    }
  }
  for (const Graph::Control& control : workflow.controls) {
    Line(fmt::format("{} [label={}, shape=diamond];", Quoted(prefix + control.name), DotLabel(LinesOf(control))));
    Wires(prefix, control.name, control.reads);
    Wires(prefix, control.name, control.after, kDashed);
  }
}

void DotWriter::Workflow(const Graph::Workflow& workflow) {
  const std::string name = Spelling(workflow), prefix = name + "/";
  if (level_ == Level::kWorkflow) {
    std::vector<std::string> lines = {name};
    for (const Graph::Port& port : workflow.in) lines.push_back(fmt::format("{}: {}", port.name, port.type));
    for (const Graph::Port& port : workflow.out) lines.push_back(fmt::format("-> {}: {}", port.name, port.type));
    Line(fmt::format("{} [label={}];", Quoted(name), DotLabel(lines)));
    return;
  }
  Open(name, name);
  if (level_ == Level::kStage) {
    Stages(workflow, prefix);
  } else {
    Nodes(workflow, prefix);
  }
  Close();
}

std::string DotWriter::Write() {
  out_ = fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box];\n", Quoted(graph_.source));
  for (const Graph::Workflow& workflow : graph_.workflows) Workflow(workflow);
  return out_ + "}\n";
}

}  // namespace

std::string GraphDot(const Graph& graph, Level level) { return DotWriter(graph, level).Write(); }

}  // namespace wf::driver
