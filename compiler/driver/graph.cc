#include "compiler/driver/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "compiler/base/utf8.h"
#include "compiler/driver/depths.h"
#include "compiler/driver/graph_control.h"
#include "compiler/driver/graph_waits.h"
#include "compiler/ir/policy_text.h"
#include "runtime/abi/defaults.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

using ir::NodeId;
using ir::RegionId;
using ir::Settings;
using ir::TaskId;

std::string_view KindName(ir::TaskKind kind) {
  switch (kind) {
    case ir::TaskKind::kRun:
      return "run";
    case ir::TaskKind::kModel:
      return "model";
    case ir::TaskKind::kRemote:
      return "remote";
    case ir::TaskKind::kEnter:
      return "enter";
    case ir::TaskKind::kSelect:
      return "select";
    case ir::TaskKind::kEach:
      return "each";
    case ir::TaskKind::kReturn:
      return "return";
  }
  return "";
}

// A server's configuration may replace those that are not written.
Settings SettingsOf(const ir::Workflow& workflow) {
  const auto or_default = [](auto written, const abi::Default& otherwise) {
    return written > 0 ? written : static_cast<decltype(written)>(otherwise.value);
  };
  return {{"timeout", base::DurationText(or_default(workflow.timeout_ns, abi::kTimeoutNs))},
          {"inflight", std::to_string(or_default(workflow.inflight_max, abi::kInflight))},
          {"body", base::SizeText(or_default(workflow.body_max, abi::kBodyBytes))},
          {"rows", std::to_string(workflow.rows_max > 0 ? workflow.rows_max : abi::kMostRows)}};
}

template <typename T>
void AddUnique(std::vector<T>& items, T item) {
  if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
}

// Reads one workflow out of the program's tables.
class WorkflowReader {
 public:
  WorkflowReader(const ir::Program& program, const ir::Workflow& workflow) : program_(program), workflow_(workflow) {}
  Graph::Workflow Read();

 private:
  std::vector<Graph::Port> Ports(const std::vector<ir::Port>& ports) const;
  bool Inside(RegionId region) const;
  void ReadNodes();
  void ReadTasks();
  Graph::Task ReadTask(TaskId id, const ControlReader& control) const;
  void ReadSettings(Graph::Node& node, const ir::Task& task) const;
  std::string NameOf(std::string_view path) const;
  std::string NameOf(NodeId id) const { return NameOf(program_[id].path); }
  void FindTasks();
  void ConnectCalls();
  void OrderWaits();
  void OrderStages();
  void ConnectStages();

  // A workflow that is called in a node, as numbers of nodes.
  struct Call {
    std::string_view path;
    size_t caller;
    std::vector<size_t> inside;   // those of calls in them not among them
    std::vector<TaskId> returns;  // of all workflows that are called by this path
  };
  std::vector<Call> Calls() const;  // the outer before those inside them
  void Enter(const Call& call);
  void Wait(const Call& call, const std::vector<size_t>& controls);
  void Leave(const Call& call);
  void ConnectEnds();
  NodeId NodeWriting(ir::SlotId slot) const;
  bool IsShown(size_t node) const { return place_[node] != kNowhere; }
  Graph::Node& Shown(size_t node) { return result_.stages[place_[node].first].nodes[place_[node].second]; }

  const ir::Program& program_;
  const ir::Workflow& workflow_;
  Graph::Workflow result_;
  std::vector<std::pair<size_t, size_t>> place_;  // per node of the program: stage and position, or none
  std::vector<TaskId> writers_;                   // per slot; kNone: nobody
  std::vector<std::vector<TaskId>> tasks_of_;     // per node of the program
  std::map<TaskId, Graph::Control> returns_;      // shown where a control has no other that waits for it
  std::vector<ir::StageId> stage_ids_;            // beside the result's stages
  static constexpr std::pair<size_t, size_t> kNowhere{SIZE_MAX, SIZE_MAX};
};

std::vector<Graph::Port> WorkflowReader::Ports(const std::vector<ir::Port>& ports) const {
  std::vector<Graph::Port> result;
  for (const ir::Port& port : ports) {
    const std::string type = port.written.empty() ? program_.types.ToString(port.type) : port.written;
    result.push_back({port.name, type, port.written_default, port.required});
  }
  return result;
}

bool WorkflowReader::Inside(RegionId region) const {
  for (; region != RegionId::kNone; region = program_[region].parent) {
    if (region == workflow_.root) return true;
  }
  return false;
}

// "logits"; of a workflow called in node `texts`, "texts/Recognise/logits".
std::string WorkflowReader::NameOf(std::string_view path) const {
  const NodeId own = program_[workflow_.root].node;
  const bool is_own = own != NodeId::kNone && path.starts_with(program_[own].path + "/");
  return std::string(path.substr(is_own ? program_[own].path.size() + 1 : path.rfind('/') + 1));
}

// A workflow's nodes follow its own node in the table, up to the own node of the next.
void WorkflowReader::ReadNodes() {
  place_.assign(program_.nodes.size(), kNowhere);
  const NodeId own = program_[workflow_.root].node;
  if (own == NodeId::kNone) return;
  result_.path = program_[own].path;
  const std::string prefix = result_.path + "/";
  std::map<ir::StageId, size_t> numbers;
  for (size_t at = Index(own) + 1; at < program_.nodes.size() && program_.nodes[at].path.starts_with(prefix); ++at) {
    const ir::Node& node = program_.nodes[at];
    if (node.stage == ir::StageId::kNone) continue;  // a called workflow as a whole: its node and its nodes say it all
    const auto [stage, is_new] = numbers.try_emplace(node.stage, stage_ids_.size());
    const size_t number = stage->second;
    if (is_new) {
      result_.stages.push_back({});
      const ir::Stage& own_stage = program_.stages[Index(node.stage)];
      const bool is_inside = own_stage.workflow.starts_with(prefix);  // of a called workflow
      result_.stages.back().name = (is_inside ? own_stage.workflow.substr(prefix.size()) + "/" : "") + own_stage.name;
      result_.stages.back().path = own_stage.workflow;
      result_.stages.back().written = own_stage.written;
      stage_ids_.push_back(node.stage);
    }
    place_[at] = {number, result_.stages[number].nodes.size()};
    Graph::Node shown{.name = NameOf(NodeId{static_cast<uint16_t>(at)}), .path = node.path, .line = node.line};
    for (const NodeId read : node.reads) shown.reads.push_back(NameOf(read));
    result_.stages[number].nodes.push_back(std::move(shown));
  }
}

void WorkflowReader::ReadSettings(Graph::Node& node, const ir::Task& task) const {
  const ir::Model* model = task.model == ir::ModelId::kNone ? nullptr : &program_.models[Index(task.model)];
  if (model != nullptr) AddUnique(node.models, model->name);
  const bool has_policy = task.policy != ir::PolicyId::kNone;
  const std::optional<bool> batched = model != nullptr && has_policy ? std::optional(model->batched) : std::nullopt;
  const ir::Policy policy = has_policy ? program_.policies[Index(task.policy)] : ir::Policy();
  const ir::Settings settings = ir::SettingsOf(policy, batched, task.limit);
  if (batched)
    AddUnique(node.calls, Graph::Call{model->name, settings});
  else
    ir::Merge(node.settings, settings);
  for (const RegionId target : task.targets) node.fallback = node.fallback || program_[target].on_error != RegionId::kNone;
}

// What all calls of the node share is said once, of the node.
void ShareSettings(Graph::Node& node) {
  if (node.calls.empty()) return;
  ir::Settings shared = node.calls.front().settings;
  std::erase_if(shared, [&node](const auto& row) {
    const auto has = [&row](const Graph::Call& call) {
      return std::find(call.settings.begin(), call.settings.end(), row) != call.settings.end();
    };
    return !std::all_of(node.calls.begin(), node.calls.end(), has);
  });
  ir::Merge(node.settings, shared);
  for (Graph::Call& call : node.calls) {
    std::erase_if(call.settings,
                  [&](const auto& row) { return std::find(node.settings.begin(), node.settings.end(), row) != node.settings.end(); });
  }
  std::erase_if(node.calls, [](const Graph::Call& call) { return call.settings.empty(); });
}

Graph::Task WorkflowReader::ReadTask(TaskId id, const ControlReader& control) const {
  const ir::Task& task = program_[id];
  Graph::Task shown{
      .id = fmt::format("t{}", Index(id)), .kind = std::string(KindName(task.kind)), .what = {}, .reads = {}, .inside = {}, .marks = {}};
  if (task.model != ir::ModelId::kNone) {
    shown.what = program_.models[Index(task.model)].name;
  } else if (task.kind == ir::TaskKind::kRemote) {
    shown.what = program_.remotes[task.remote];
  } else if (task.out != ir::SlotId::kNone) {
    shown.what = program_[task.out].name;
  }
  const TaskId entering = task.region == workflow_.root ? TaskId::kNone : control.Entering(task.region);
  if (entering != TaskId::kNone) shown.inside = fmt::format("t{}", Index(entering));
  shown.begins = entering != TaskId::kNone;
  const auto reads = [&](TaskId before) {
    AddUnique(shown.reads, fmt::format("t{}", Index(before)));
    shown.begins = shown.begins && program_[before].region != task.region;
  };
  const auto reads_slot = [&](ir::SlotId slot) {
    if (const TaskId writer = writers_[Index(slot)]; writer != TaskId::kNone) reads(writer);
  };
  for (const ir::SlotId slot : task.in) reads_slot(slot);
  for (const ir::SlotId slot : task.settled) reads_slot(slot);
  for (const TaskId before : task.after) reads(before);
  if (task.control) shown.marks.emplace_back("control");
  if (task.blocking) shown.marks.emplace_back("blocking");
  if (task.compute) shown.marks.emplace_back("compute");
  return shown;
}

void WorkflowReader::ReadTasks() {
  const NodeId own = program_[workflow_.root].node;
  const ControlReader::NameOf name_of = [&](NodeId id) { return id == own ? "" : NameOf(id); };
  const ControlReader control(program_, workflow_.root, name_of);
  result_.controls = control.Controls();
  for (size_t at = 0; at < program_.tasks.size(); ++at) {
    const ir::Task& task = program_.tasks[at];
    if (!Inside(task.region)) continue;
    const TaskId id{static_cast<uint16_t>(at)};
    if (task.kind == ir::TaskKind::kReturn) returns_.emplace(id, control.Return(id));
    Graph::Task shown = ReadTask(id, control);
    const auto place = task.node == NodeId::kNone ? kNowhere : place_[Index(task.node)];
    if (place == kNowhere) {
      result_.own_tasks.push_back(std::move(shown));
      continue;
    }
    Graph::Node& node = result_.stages[place.first].nodes[place.second];
    ReadSettings(node, task);
    control.Read(id, node);
    node.tasks.push_back(std::move(shown));
  }
  for (Graph::Stage& stage : result_.stages) {
    for (Graph::Node& node : stage.nodes) ShareSettings(node);
  }
}

std::vector<WorkflowReader::Call> WorkflowReader::Calls() const {
  std::map<std::string_view, size_t> numbers;
  for (size_t at = 0; at < program_.nodes.size(); ++at) {
    if (IsShown(at)) numbers.emplace(program_.nodes[at].path, at);
  }
  std::map<std::string_view, Call> calls;  // by the path of the call, which begins with its caller's
  for (const auto& [path, number] : numbers) {
    const std::string_view call = path.substr(0, path.rfind('/'));
    const auto caller = numbers.find(call.substr(0, call.rfind('/')));
    if (caller == numbers.end()) continue;
    calls.try_emplace(call, Call{call, caller->second, {}, {}}).first->second.inside.push_back(number);
  }
  for (size_t at = 0; at < program_.nodes.size(); ++at) {
    const auto call = calls.find(program_.nodes[at].path);
    if (call == calls.end()) continue;
    const auto is_return = [&](TaskId task) { return program_[task].kind == ir::TaskKind::kReturn; };
    std::copy_if(tasks_of_[at].begin(), tasks_of_[at].end(), std::back_inserter(call->second.returns), is_return);
  }
  std::vector<Call> result;
  for (auto& [path, call] : calls) result.push_back(std::move(call));
  return result;
}

// What its nodes take from outside: values as they are, and arguments that the caller's node computes.
void WorkflowReader::Enter(const Call& call) {
  const std::string callers_prefix = program_.nodes[call.caller].path + "/";
  for (const size_t reader : call.inside) {
    std::vector<TaskId> open = tasks_of_[reader];
    std::set<TaskId> seen(open.begin(), open.end());
    const size_t own = open.size();
    for (size_t at = 0; at < open.size(); ++at) {
      for (const ir::SlotId slot : program_[open[at]].in) {
        const NodeId from = NodeWriting(slot);
        if (from == NodeId::kNone || Index(from) == reader) continue;
        const bool is_caller = program_.nodes[reader].path.starts_with(program_[from].path + "/");
        if (is_caller || !IsShown(Index(from))) {  // an argument, or what is between the nodes
          if (seen.insert(writers_[Index(slot)]).second) open.push_back(writers_[Index(slot)]);
        } else if (at >= own || !program_[from].path.starts_with(callers_prefix)) {
          AddUnique(Shown(reader).reads, NameOf(from));
        }
      }
    }
  }
  for (const size_t number : call.inside) {
    const std::vector<std::string>& around = Shown(number).inside;
    const bool in_loop = std::any_of(around.begin(), around.end(), [](const std::string& block) { return block.starts_with("for "); });
    if (!in_loop || !Shown(number).reads.empty()) continue;  // elements of a `for` are nobody's
    for (const std::string& name : Shown(call.caller).reads) AddUnique(Shown(number).reads, name);
  }
}

// What begins inside, `controls` of the call among it, waits for what the caller's node waits for.
void WorkflowReader::Wait(const Call& call, const std::vector<size_t>& controls) {
  const std::vector<std::string> before = Shown(call.caller).after;
  const std::string prefix = NameOf(call.path) + "/";
  const auto is_inside = [&](const std::string& name) { return name.starts_with(prefix); };
  const auto wait = [&](auto& node_or_control) {
    if (std::any_of(node_or_control.reads.begin(), node_or_control.reads.end(), is_inside)) return;
    if (std::any_of(node_or_control.after.begin(), node_or_control.after.end(), is_inside)) return;
    for (const std::string& control : before) AddUnique(node_or_control.after, control);
  };
  for (const size_t number : call.inside) wait(Shown(number));
  for (const size_t number : controls) wait(result_.controls[number]);
}

// The caller's node has its value from the nodes that the returns inside read; of several returns a control has chosen.
void WorkflowReader::Leave(const Call& call) {
  for (const TaskId task : call.returns) {
    for (const std::string& control : call.returns.size() > 1 ? returns_.at(task).after : std::vector<std::string>())
      AddUnique(Shown(call.caller).after, control);
  }
  std::vector<TaskId> open = call.returns;
  std::set<TaskId> seen;
  std::set<size_t> read;
  while (!open.empty()) {
    const TaskId task = open.back();
    open.pop_back();
    if (!seen.insert(task).second) continue;
    for (const ir::SlotId slot : program_[task].in) {
      const NodeId from = NodeWriting(slot);
      if (from == NodeId::kNone || Index(from) == call.caller) continue;
      if (IsShown(Index(from))) {
        read.insert(Index(from));
      } else {
        open.push_back(writers_[Index(slot)]);  // what is between the nodes
      }
    }
  }
  for (const size_t number : read) AddUnique(Shown(call.caller).reads, Shown(number).name);
}

NodeId WorkflowReader::NodeWriting(ir::SlotId slot) const {
  const TaskId writer = writers_[Index(slot)];
  return writer == TaskId::kNone ? NodeId::kNone : program_[writer].node;
}

void WorkflowReader::FindTasks() {
  writers_.assign(program_.slots.size(), TaskId::kNone);
  tasks_of_.resize(program_.nodes.size());
  for (size_t at = 0; at < program_.tasks.size(); ++at) {
    const ir::Task& task = program_.tasks[at];
    const auto id = static_cast<TaskId>(at);
    if (task.out != ir::SlotId::kNone) writers_[Index(task.out)] = id;
    if (task.node != NodeId::kNone) tasks_of_[Index(task.node)].push_back(id);
  }
}

void WorkflowReader::ConnectCalls() {
  const std::vector<Call> calls = Calls();
  std::map<std::string, std::vector<size_t>> controls;  // by the name of the call that they stand in
  for (size_t at = 0; at < result_.controls.size(); ++at) {
    const std::string& name = result_.controls[at].name;
    if (const size_t end = name.rfind('/'); end != std::string::npos) controls[name.substr(0, end)].push_back(at);
  }
  for (const Call& call : calls) {
    Enter(call);
    Wait(call, controls[NameOf(call.path)]);
  }
  for (const Call& call : calls) Leave(call);
  ConnectEnds();
}

// A control that nothing else waits for decides whether there is a reply, or a value of the call.
void WorkflowReader::ConnectEnds() {
  std::set<std::string> waited;
  const auto note = [&](const auto& one) { waited.insert(one.after.begin(), one.after.end()); };
  for (const Graph::Stage& stage : result_.stages) std::for_each(stage.nodes.begin(), stage.nodes.end(), note);
  std::for_each(result_.controls.begin(), result_.controls.end(), note);
  const auto is_end = [&](const std::string& name) { return !waited.contains(name); };
  std::map<std::string_view, size_t> callers;
  for (size_t at = 0; at < program_.nodes.size(); ++at) {
    if (IsShown(at)) callers.emplace(program_.nodes[at].path, at);
  }
  for (auto& [task, shown] : returns_) {
    const NodeId node = program_[task].node;
    std::erase_if(shown.after, std::not_fn(is_end));
    if (shown.after.empty() || node == NodeId::kNone) continue;
    const std::string_view path = program_[node].path;
    if (const auto caller = callers.find(path.substr(0, path.rfind('/'))); caller != callers.end()) {
      for (const std::string& name : shown.after) AddUnique(Shown(caller->second).after, name);
    } else if (node == program_[workflow_.root].node && program_[task].line != 0) {
      result_.controls.push_back(std::move(shown));
    }
  }
}

// What is waited for stands in the order of the text.
void WorkflowReader::OrderWaits() {
  std::map<std::string_view, size_t> places;
  for (const Graph::Control& control : result_.controls) places.emplace(control.name, places.size());
  const auto order = [&](std::vector<std::string>& names) {
    const auto place = [&](const std::string& name) { return places.contains(name) ? places.at(name) : places.size(); };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  };
  for (Graph::Stage& stage : result_.stages) {
    for (Graph::Node& node : stage.nodes) order(node.after);
  }
  for (Graph::Control& control : result_.controls) order(control.after);
}

void WorkflowReader::ConnectStages() {
  std::map<std::string_view, std::set<size_t>> holding;  // a node of that name
  for (size_t at = 0; at < result_.stages.size(); ++at) {
    for (const Graph::Node& node : result_.stages[at].nodes) holding[node.name].insert(at);
  }
  for (size_t at = 0; at < result_.stages.size(); ++at) {
    Graph::Stage& stage = result_.stages[at];
    std::set<std::string_view> known;
    for (const Graph::Node& node : stage.nodes) {
      for (const std::string& read : node.reads) {
        for (const size_t other : holding[read]) {
          const std::string& name = result_.stages[other].name;
          if (other != at && known.insert(name).second) stage.after.push_back(name);
        }
      }
    }
  }
  ConnectWaits(result_.stages, result_.controls);
}

// Those that are read, and those that decide, before the others; the workflow's own as they are numbered.
void WorkflowReader::OrderStages() {
  std::map<std::string_view, size_t> number;
  for (size_t at = 0; at < result_.stages.size(); ++at) number.emplace(result_.stages[at].name, at);
  const auto numbers = [&](const std::vector<std::string>& names) {
    std::vector<size_t> found;
    for (const std::string& name : names) found.push_back(number.at(name));
    return found;
  };
  Reads reads, waits;
  for (const Graph::Stage& stage : result_.stages) {
    reads.push_back(numbers(stage.after));
    waits.push_back(numbers(stage.waits));
  }
  std::map<ir::StageId, size_t> own;
  for (size_t at = 0; at < result_.stages.size(); ++at) {
    if (result_.stages[at].name.find('/') == std::string::npos) own.emplace(stage_ids_[at], at);
  }
  for (auto at = own.begin(); at != own.end() && std::next(at) != own.end(); ++at) waits[std::next(at)->second].push_back(at->second);
  const std::vector<size_t> depths = Depths(reads, waits, std::vector<size_t>(reads.size(), 0));
  std::vector<std::pair<size_t, size_t>> order;
  for (size_t at = 0; at < depths.size(); ++at) order.emplace_back(depths[at], at);
  std::sort(order.begin(), order.end());
  std::vector<Graph::Stage> sorted;
  for (const auto& [depth, at] : order) sorted.push_back(std::move(result_.stages[at]));
  result_.stages = std::move(sorted);
}

Graph::Workflow WorkflowReader::Read() {
  result_.service = workflow_.service;
  result_.name = workflow_.name;
  result_.is_default = workflow_.is_default;
  result_.in = Ports(workflow_.in);
  result_.out = Ports(workflow_.out);
  result_.settings = SettingsOf(workflow_);
  FindTasks();
  ReadNodes();
  ReadTasks();
  ConnectCalls();
  DropEarlierWaits(result_.stages, result_.controls);
  OrderWaits();
  ConnectStages();
  OrderStages();
  return std::move(result_);
}

}  // namespace

Graph GraphOf(const ir::Program& program) {
  Graph graph{.source = source::Utf8Of(program.source_name), .workflows = {}};
  for (const ir::Workflow& workflow : program.workflows) graph.workflows.push_back(WorkflowReader(program, workflow).Read());
  return graph;
}

}  // namespace wf::driver
