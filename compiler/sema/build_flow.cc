#include <algorithm>

#include "compiler/sema/build_workflow.h"
#include "runtime/base/check.h"

// Control flow of statements: a workflow's own statements are tasks of one region, those of each arm of an `if` of a region inside it.
namespace wf::sema {

using ir::RegionId;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;
using ir::ValueId;

namespace {

constexpr size_t kMostGates = 64;  // that a task lists

size_t Index(auto id) { return static_cast<size_t>(id); }

}  // namespace

void WorkflowBuilder::Start(RegionId parent) {
  usage_ = FindUsage(workflow_);
  has_branches_ = std::any_of(workflow_.body.begin(), workflow_.body.end(), [](const Stmt& stmt) { return stmt.kind == StmtKind::kIf; });
  root_ = region_ = flow_ = OpenRegion(parent, ir::NodeId::kNone);
  flows_ = {root_};
  ir::Body scratch;
  BodyWriter writer(c_, scratch, nullptr);
  for (const Field& field : workflow_.results) result_types_.push_back(writer.TypeOf(field.type));
  AddNodes();
}

RegionId WorkflowBuilder::Inline(RegionId parent, const std::vector<SlotId>& args) {
  is_inlined_ = true;
  Start(parent);
  for (size_t i = 0; i < args.size(); ++i) SetSlot(workflow_.params[i].local, args[i]);
  AddParamSymbols();
  std::vector<ir::Field> fields;
  for (size_t i = 0; i < result_types_.size(); ++i) fields.push_back({workflow_.results[i].name, result_types_[i]});
  const SlotId result = AddSlot(root_, workflow_.name, out_.types.Record("", std::move(fields)));
  out_.regions[Index(root_)].result = result;
  BuildBlock(0, 0);
  for (const RegionId flow : flows_) PruneAfter(flow);
  return root_;
}

// The statements of `block` from `index` on, with those of the arms inside; the index behind them.
size_t WorkflowBuilder::BuildBlock(size_t index, uint32_t block) {
  while (index < workflow_.body.size() && workflow_.body[index].block == block) {
    const Stmt& stmt = workflow_.body[index];
    if (stmt.kind == StmtKind::kIf) {
      index = BuildIf(index);
      continue;
    }
    if (stmt.kind == StmtKind::kReturn)
      BuildReturn(stmt);
    else if (usage_.is_needed[index])
      BuildStmt(index);
    ++index;
  }
  return index;
}

// A control point that waits for what its conditions read, and no more: what stands in the arms waits itself. Control has passed when the
// arm that is taken has ended, or when there is none to take.
size_t WorkflowBuilder::BuildIf(size_t index) {
  const Stmt& stmt = workflow_.body[index];
  node_ = own_node_;
  std::vector<const Expr*> conditions;
  for (const ExprPtr& condition : stmt.conditions) conditions.push_back(condition.get());
  ir::Task task{.kind = TaskKind::kSelect, .region = flow_, .node = own_node_};
  task.body = WriteTaskBody(task, [&](BodyWriter& writer) { return writer.WriteChoice(conditions); });
  task.control = true;
  const RegionId around = flow_;
  for (size_t i = 0; i < stmt.arms.size(); ++i) task.targets.push_back(OpenRegion(around, own_node_));
  const std::vector<TaskId> controls = std::exchange(controls_, {}), exits = std::exchange(exits_, {});
  const size_t n_annotations = annotations_.size(), n_returns = n_returns_;
  size_t next = index + 1;
  for (size_t i = 0; i < stmt.arms.size(); ++i) {
    flow_ = region_ = task.targets[i];
    flows_.push_back(flow_);
    controls_.clear();
    exits_.clear();
    next = BuildBlock(next, stmt.arms[i]);
    annotations_.resize(n_annotations);
  }
  flow_ = region_ = around;
  controls_ = controls;
  exits_ = exits;
  // Arms that do more than fail are entered when all control points above have let control pass.
  const bool only_fails = std::all_of(task.targets.begin(), task.targets.end(), [this](RegionId arm) {
    const std::vector<TaskId>& inside = out_.regions[Index(arm)].tasks;
    return std::all_of(inside.begin(), inside.end(), [this](TaskId id) { return out_[id].kind == TaskKind::kRun && out_[id].control; });
  });
  AddGate(AddTask(std::move(task)), !only_fails || is_inlined_, n_returns_ > n_returns);
  return next;
}

void WorkflowBuilder::BuildReturn(const Stmt& stmt) {
  ++n_returns_;
  node_ = own_node_;
  ir::Task task{.kind = TaskKind::kReturn, .region = flow_, .node = own_node_};
  if (is_inlined_) {
    task.in = {ReturnedTuple(stmt)};
  } else {
    for (size_t i = 0; i < stmt.results.size(); ++i) {
      task.in.push_back(ReturnedValue(stmt, i));
      if (!has_branches_) (*ports_)[i].slot = task.in.back();
    }
  }
  std::vector<TaskId> beside;
  for (const TaskId annotation : annotations_) {
    if (out_[annotation].region == flow_) {
      beside.push_back(annotation);
    } else {
      task.settled.push_back(out_[annotation].out);
    }
  }
  const TaskId id = AddTask(std::move(task));
  out_[id].after.insert(out_[id].after.end(), beside.begin(), beside.end());
}

SlotId WorkflowBuilder::ReturnedValue(const Stmt& stmt, size_t index) {
  const Expr& expr = *stmt.results[index];
  const std::string& name = workflow_.results[index].name;
  const ir::TypeId type = result_types_[index];
  const std::optional<SlotId> plain = PlainSlot(expr);
  const SlotId slot = plain ? *plain : AddRun(name, [&](BodyWriter& writer) { return writer.Write(expr); }, type);
  return ir::Fits(out_.types, out_[slot].type, type) ? slot : AddFailing(name, type, &expr);
}

SlotId WorkflowBuilder::ReturnedTuple(const Stmt& stmt) {
  const ir::TypeId type = out_[out_.regions[Index(root_)].result].type;
  const auto write = [&](BodyWriter& writer) {
    std::vector<ValueId> values;
    for (const ExprPtr& result : stmt.results) {
      values.push_back(writer.Write(*result));
      if (values.back() == ValueId::kNone) return ValueId::kNone;
    }
    return writer.builder().Record(type, std::move(values));
  };
  return AddRun("result", write, type);
}

// `id` lets control pass or not, and what follows waits for it. When it comes after all control points above, it stands for them: it has
// waited. Early returns stay beside it until the next one, since PruneAfter may take `id` away.
void WorkflowBuilder::AddGate(TaskId id, bool after_all, bool may_return) {
  out_[id].after = after_all ? controls_ : exits_;
  if (may_return) {
    early_returns_.insert(id);
    exits_.clear();
  }
  if (after_all) controls_ = exits_;
  controls_.push_back(id);
  if (may_return) exits_.push_back(id);
  if (controls_.size() > kMostGates) JoinGates();
}

// A control point that only waits: what follows need not list each of so many.
void WorkflowBuilder::JoinGates() {
  ir::Task task{.kind = TaskKind::kRun, .region = flow_, .node = own_node_};
  task.body = WriteTaskBody(task, [](BodyWriter&) { return ValueId::kNone; });
  task.control = true;
  AddGate(AddTask(std::move(task)), true, false);
}

// A control point need not be waited for by what waits for a task that waited for it. What has passed when a task ends are the first
// control points of the flow, however many: their number says which. A task that has failed says nothing: its failure may have overtaken
// what it waits for. So what decides (a control point, a return) and what may start although an input failed waits itself.
void WorkflowBuilder::PruneAfter(RegionId flow) {
  std::unordered_map<TaskId, size_t> passed;  // per task: control points that have passed when it ends
  std::unordered_map<TaskId, size_t> places;  // of control points
  std::unordered_map<SlotId, TaskId> writer;
  for (const TaskId id : out_.regions[Index(flow)].tasks) {
    ir::Task& task = out_[id];
    size_t by_inputs = 0, by_control = 0, waited = 0;
    for (const SlotId slot : task.in) {
      if (const auto at = writer.find(slot); at != writer.end()) by_inputs = std::max(by_inputs, passed[at->second]);
    }
    for (const TaskId before : task.after) {
      const auto at = places.find(before);
      if (at == places.end()) continue;
      by_control = std::max(by_control, passed[before]);
      waited = std::max(waited, at->second + 1);
    }
    passed[id] = std::max({by_inputs, by_control, waited});
    if (task.control) places.emplace(id, places.size());
    const bool decides = task.control || task.kind == TaskKind::kReturn;
    const size_t implied = decides ? by_control : std::max(by_inputs, by_control);
    const auto is_implied = [&](TaskId before) {
      const auto at = places.find(before);
      return at != places.end() && at->second < implied && !early_returns_.contains(before);
    };
    if (task.kind != TaskKind::kEnter) std::erase_if(task.after, is_implied);
    if (task.out != SlotId::kNone) writer[task.out] = id;
  }
}

}  // namespace wf::sema
