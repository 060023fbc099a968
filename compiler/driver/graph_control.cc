#include "compiler/driver/graph_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace wf::driver {
namespace {

using ir::NodeId;
using ir::RegionId;
using ir::TaskId;

constexpr std::string_view kOnlyWaits = "all above";

void AddIfNamed(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace

ControlReader::ControlReader(const ir::Program& program, RegionId root, const NameOf& name_of)
    : program_(program),
      root_(root),
      name_of_(name_of),
      entering_(program.regions.size(), TaskId::kNone),
      writers_(program.slots.size(), TaskId::kNone),
      controls_(program.tasks.size()) {
  for (size_t at = 0; at < program.tasks.size(); ++at) {
    const ir::Task& task = program.tasks[at];
    const auto id = static_cast<TaskId>(at);
    if (task.out != ir::SlotId::kNone) writers_[Index(task.out)] = id;
    for (const RegionId target : task.targets) {
      entering_[Index(target)] = id;
      if (program[target].on_error != RegionId::kNone) entering_[Index(program[target].on_error)] = id;
    }
  }
  NameControls();
}

bool ControlReader::Inside(RegionId region) const {
  for (; region != RegionId::kNone; region = program_[region].parent) {
    if (region == root_) return true;
  }
  return false;
}

uint32_t ControlReader::LineOf(const ir::Task& task) const {
  if (task.line != 0) return task.line;
  for (const ir::Op& op : task.body.ops) {
    if (op.place.line != 0) return op.place.line;
  }
  return task.node == NodeId::kNone ? 0 : program_[task.node].line;
}

std::string ControlReader::KindOf(const ir::Task& task) const {
  if (task.kind == ir::TaskKind::kSelect) return "if";
  const auto is_failure = [](const ir::Op& op) { return op.kind == ir::OpKind::kFailIf; };
  const auto failure = std::find_if(task.body.ops.begin(), task.body.ops.end(), is_failure);
  if (failure == task.body.ops.end()) return std::string(kOnlyWaits);
  const ir::OpKind condition = task.body[failure->args.front()].kind;
  return condition == ir::OpKind::kScalar ? "fail" : "require";
}

void ControlReader::NameControls() {
  std::map<std::string, int> count;
  for (size_t at = 0; at < program_.tasks.size(); ++at) {
    const ir::Task& task = program_.tasks[at];
    if (!task.control || task.of_parameters || !Inside(task.region)) continue;
    const std::string kind = KindOf(task), owner = task.node == NodeId::kNone ? "" : name_of_(task.node);
    std::string name = owner.empty() ? kind : owner + "/" + kind;
    if (kind != kOnlyWaits) name += fmt::format(" line {}", LineOf(task));
    if (const int number = ++count[name]; number > 1) name += fmt::format(" ({})", number);
    controls_[at] = name;
  }
}

// Of a `let`, a condition or a result, which are no nodes.
bool ControlReader::IsNobodys(NodeId node) const {
  return node == NodeId::kNone || program_[node].stage == ir::StageId::kNone || name_of_(node).empty();
}

// The controls that a task waits for, itself and through what nobody's tasks compute for it.
std::vector<TaskId> ControlReader::Waits(TaskId id) const {
  std::vector<TaskId> waits;
  std::set<TaskId> seen;
  for (std::vector<TaskId> open = {id}; !open.empty();) {
    const ir::Task& task = program_[open.back()];
    open.pop_back();
    std::copy_if(task.after.begin(), task.after.end(), std::back_inserter(waits), [&](TaskId one) { return seen.insert(one).second; });
    for (const ir::SlotId slot : task.in) {
      const TaskId writer = writers_[Index(slot)];
      if (writer != TaskId::kNone && IsNobodys(program_[writer].node) && seen.insert(writer).second) open.push_back(writer);
    }
  }
  return waits;
}

// The shown nodes whose values a task takes, through what is nobody's and through the call that it is part of.
std::vector<std::string> ControlReader::NodesRead(TaskId id) const {
  std::vector<std::string> names;
  const std::string path = program_[id].node == NodeId::kNone ? "" : program_[program_[id].node].path;
  std::set<TaskId> seen;
  std::vector<TaskId> open = {id};
  while (!open.empty()) {
    const ir::Task& task = program_[open.back()];
    open.pop_back();
    for (const ir::SlotId slot : task.in) {
      const TaskId writer = writers_[Index(slot)];
      if (writer == TaskId::kNone || !seen.insert(writer).second) continue;
      const NodeId node = program_[writer].node;
      const std::string name = node == NodeId::kNone ? "" : name_of_(node);
      const bool is_caller = !name.empty() && path.starts_with(program_[node].path + "/");
      if (IsNobodys(node) || is_caller) {
        open.push_back(writer);
      } else {
        AddIfNamed(names, name);
      }
    }
  }
  return names;
}

std::string ControlReader::BlockName(TaskId entering, RegionId block) const {
  const ir::Task& task = program_[entering];
  const auto falls_back = [&](RegionId target) { return program_[target].on_error == block; };
  if (std::any_of(task.targets.begin(), task.targets.end(), falls_back)) return fmt::format("else line {}", LineOf(task));
  const bool is_first = !task.targets.empty() && task.targets.front() == block;
  switch (task.kind) {
    case ir::TaskKind::kSelect:
      if (task.control) return (is_first ? "" : "else of ") + controls_[Index(entering)];
      return fmt::format("choice line {}", LineOf(task));
    case ir::TaskKind::kEach:
      return fmt::format("for line {}", LineOf(task));
    case ir::TaskKind::kRun:
    case ir::TaskKind::kModel:
    case ir::TaskKind::kRemote:
    case ir::TaskKind::kEnter:
    case ir::TaskKind::kReturn:
      break;
  }
  return "";
}

// The blocks around a task: what stands in another node's waits for that node alone, what a control enters for that control.
void ControlReader::ReadBlocks(TaskId id, std::vector<std::string>& after, std::vector<std::string>& inside) const {
  bool is_own = true;
  for (TaskId at = id; at != TaskId::kNone;) {
    const ir::Task& task = program_[at];
    if (is_own) {
      for (const TaskId before : Waits(at)) AddIfNamed(after, controls_[Index(before)]);
    }
    const TaskId entering = task.region == root_ || task.region == RegionId::kNone ? TaskId::kNone : Entering(task.region);
    if (entering == TaskId::kNone) return;
    const ir::Task& outer = program_[entering];
    const bool same_node = outer.node == program_[id].node;
    if (is_own && outer.control) AddIfNamed(after, controls_[Index(entering)]);
    is_own = is_own && !outer.control && same_node;
    if (outer.control || !same_node) AddIfNamed(inside, BlockName(entering, task.region));
    at = entering;
  }
}

std::vector<Graph::Control> ControlReader::Controls() const {
  std::vector<Graph::Control> result;
  for (size_t at = 0; at < controls_.size(); ++at) {
    if (controls_[at].empty()) continue;
    const auto id = static_cast<TaskId>(at);
    Graph::Control control{.name = controls_[at], .line = LineOf(program_[id]), .reads = NodesRead(id), .after = {}, .inside = {}};
    ReadBlocks(id, control.after, control.inside);
    result.push_back(std::move(control));
  }
  std::map<std::string, size_t> calls;  // by name, in the order in which they begin: lines of different files do not compare
  const auto call_of = [](const Graph::Control& control) { return control.name.substr(0, control.name.rfind('/') + 1); };
  for (const Graph::Control& control : result) calls.emplace(call_of(control), calls.size());
  std::stable_sort(result.begin(), result.end(), [&](const Graph::Control& a, const Graph::Control& b) {
    return std::pair(calls.at(call_of(a)), a.line) < std::pair(calls.at(call_of(b)), b.line);
  });
  return result;
}

Graph::Control ControlReader::Return(TaskId id) const {
  const uint32_t line = LineOf(program_[id]);
  Graph::Control control{.name = fmt::format("return line {}", line), .line = line, .reads = NodesRead(id), .after = {}, .inside = {}};
  ReadBlocks(id, control.after, control.inside);
  return control;
}

void ControlReader::Read(TaskId id, Graph::Node& node) const { ReadBlocks(id, node.after, node.inside); }

}  // namespace wf::driver
