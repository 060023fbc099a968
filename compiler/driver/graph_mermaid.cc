#include <fmt/format.h>

#include <map>

#include "compiler/driver/graph.h"

namespace wf::driver {
namespace {

// A label: quoted, with what has a meaning in it as entities, lines apart.
std::string MermaidLabel(const std::vector<std::string>& lines) {
  std::string label = "\"";
  for (size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) label += "<br/>";
    for (const char c : lines[at]) {
      const bool special = std::string_view("\"#&<>`\\;").find(c) != std::string_view::npos;
      label += special ? fmt::format("#{};", static_cast<int>(c)) : std::string(1, c);
    }
  }
  return label + '"';
}

constexpr std::string_view kDashed = "-.->";

class MermaidWriter {
 public:
  explicit MermaidWriter(Level level) : level_(level) {}
  std::string Write(const Graph& graph);

 private:
  void Workflow(const Graph::Workflow& workflow);
  void Stages(const Graph::Workflow& workflow);
  void Nodes(const Graph::Workflow& workflow);
  void Tasks(const std::vector<Graph::Task>& tasks);
  void Wires(const std::string& to, const std::vector<std::string>& reads, std::string_view arrow = "-->") {
    for (const std::string& read : reads) wires_ += fmt::format("  {} {} {}\n", Id(read), arrow, Id(to));
  }
  void Line(const std::string& text) { out_ += std::string(2 * depth_, ' ') + text + "\n"; }
  void Open(const std::string& title) {
    Line(fmt::format("subgraph g{}[{}]", ++groups_, MermaidLabel({title})));
    ++depth_;
  }
  void Close() {
    --depth_;
    Line("end");
  }
  // Names of the program may be words of mermaid; numbers are not. Each workflow has its own.
  std::string Id(const std::string& name) { return fmt::format("n{}", ids_.try_emplace({workflow_, name}, ids_.size()).first->second); }

  const Level level_;
  std::string out_, wires_;
  size_t depth_ = 1, groups_ = 0, workflow_ = 0;
  std::map<std::pair<size_t, std::string>, size_t> ids_;
};

void MermaidWriter::Tasks(const std::vector<Graph::Task>& tasks) {
  for (const Graph::Task& task : tasks) {
    std::vector<std::string> lines = {task.id + " " + task.kind};
    if (!task.what.empty()) lines.push_back(task.what);
    Line(fmt::format("{}[{}]", Id(task.id), MermaidLabel(lines)));
    Wires(task.id, task.reads);
    if (task.begins) Wires(task.id, {task.inside}, kDashed);
  }
}

void MermaidWriter::Stages(const Graph::Workflow& workflow) {
  for (const Graph::Stage& stage : workflow.stages) {
    std::vector<std::string> lines = {stage.name.empty() ? "(no stage)" : stage.name};
    for (const Graph::Node& node : stage.nodes) lines.push_back(node.name);
    for (const Graph::Measured& one : stage.measured) lines.push_back(Spelling(one));
    Line(fmt::format("{}[{}]", Id(stage.name), MermaidLabel(lines)));
    Wires(stage.name, stage.after);
    Wires(stage.name, stage.waits, kDashed);
  }
}

void MermaidWriter::Nodes(const Graph::Workflow& workflow) {
  for (const Graph::Stage& stage : workflow.stages) {
    if (!stage.name.empty()) Open(stage.name);
    for (const Graph::Node& node : stage.nodes) {
      if (level_ == Level::kTask) {
        Open(node.name);
        Tasks(node.tasks);
        Close();
        continue;
      }
      Line(fmt::format(fmt::runtime(node.fallback ? "{}([{}])" : "{}[{}]"), Id(node.name), MermaidLabel(LinesOf(node))));
      Wires(node.name, node.reads);
      Wires(node.name, node.after, kDashed);
    }
    if (!stage.name.empty()) Close();
  }
  if (level_ == Level::kTask) {
    Tasks(workflow.own_tasks);
    return;
  }
  for (const Graph::Control& control : workflow.controls) {
    Line(fmt::format("{}{{{{{}}}}}", Id(control.name), MermaidLabel(LinesOf(control))));
    Wires(control.name, control.reads);
    Wires(control.name, control.after, kDashed);
  }
}

void MermaidWriter::Workflow(const Graph::Workflow& workflow) {
  const std::string name = Spelling(workflow);
  ++workflow_;
  if (level_ == Level::kWorkflow) {
    std::vector<std::string> lines = {name};
    for (const Graph::Port& port : workflow.in) lines.push_back(fmt::format("{}: {}", port.name, port.type));
    for (const Graph::Port& port : workflow.out) lines.push_back(fmt::format("-> {}: {}", port.name, port.type));
    Line(fmt::format("{}[{}]", Id(name), MermaidLabel(lines)));
    return;
  }
  Open(name);
  if (level_ == Level::kStage) {
    Stages(workflow);
  } else {
    Nodes(workflow);
  }
  Close();
}

std::string MermaidWriter::Write(const Graph& graph) {
  for (const Graph::Workflow& workflow : graph.workflows) Workflow(workflow);
  return "flowchart LR\n" + out_ + wires_;
}

}  // namespace

std::string GraphMermaid(const Graph& graph, Level level) { return MermaidWriter(level).Write(graph); }

}  // namespace wf::driver
