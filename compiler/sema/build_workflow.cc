#include "compiler/sema/build_workflow.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/sema/build_cut.h"
#include "compiler/sema/open_axes.h"
#include "compiler/sema/value_text.h"
#include "runtime/base/error_codes.h"

namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;
using ir::ValueId;

namespace {

// A path that no other node has: those of two arms may have one name.
std::string PathOf(BuildContext& context, const std::string& around, const std::string& name) {
  const std::string path = name.empty() ? around : around.empty() ? name : around + "/" + name;
  const int count = ++context.paths[path];
  return count == 1 ? path : path + "." + std::to_string(count);
}

bool HasBranches(const Workflow& workflow) {
  return std::any_of(workflow.body.begin(), workflow.body.end(), [](const Stmt& stmt) { return stmt.kind == StmtKind::kIf; });
}

}  // namespace

WorkflowBuilder::WorkflowBuilder(BuildContext& context, const Workflow& workflow, const std::string& path, RegionId parent)
    : c_(context),
      out_(context.out),
      workflow_(workflow),
      usage_(FindUsage(workflow)),
      is_called_(parent != RegionId::kNone),
      has_branches_(HasBranches(workflow)),
      flow_(context.out),
      tasks_(context.out, flow_),
      values_(context, workflow, tasks_, is_called_),
      root_(tasks_.OpenRegion(parent)) {
  flow_.Begin(root_);
  tasks_.Begin(root_);
  for (const Field& field : workflow_.results) result_types_.push_back(values_.DeclaredType(field.type));
  AddNodes(path);
}

void WorkflowBuilder::Build(ir::Workflow& result) {
  AddPorts(result);
  AddParamChecks();
  BuildBlock(0, 0);
  if (n_returns_ == 0 && !has_branches_) AddNoReturn(result);
  flow_.Prune();
  result.root = root_;
}

RegionId WorkflowBuilder::BuildCall(const std::vector<SlotId>& args) {
  for (size_t i = 0; i < args.size(); ++i) values_.SetSlot(workflow_.params[i].local, args[i]);
  values_.AddSymbolsOfParameters();
  std::vector<ir::Field> fields;
  for (size_t i = 0; i < result_types_.size(); ++i) fields.push_back({workflow_.results[i].name, result_types_[i]});
  const SlotId result = tasks_.AddSlot(root_, workflow_.name, out_.types.Record("", std::move(fields)));
  out_.regions[Index(root_)].result = result;
  BuildBlock(0, 0);
  flow_.Prune();
  return root_;
}

void WorkflowBuilder::AddNodes(const std::string& around) {
  const std::string path = PathOf(c_, around, "");
  const size_t first_stage = out_.stages.size();
  for (const Workflow::Stage& stage : workflow_.stages) out_.stages.push_back({path, stage.name, stage.written});
  const auto add = [&](ir::Node node) {
    out_.nodes.push_back(std::move(node));
    return ir::NodeId{static_cast<uint32_t>(out_.nodes.size() - 1)};
  };
  own_node_ = add({.path = path, .line = c_.LineOf(workflow_.span), .stage = ir::StageId::kNone, .reads = {}});
  tasks_.set_node(own_node_);
  out_.regions[Index(root_)].node = own_node_;
  std::unordered_map<LocalId, std::set<ir::NodeId>> sources;  // per local: nodes that its value comes from directly
  for (size_t i = 0; i < workflow_.body.size(); ++i) {
    const Stmt& stmt = workflow_.body[i];
    nodes_.push_back(own_node_);
    if (!usage_.is_needed[i] || (stmt.kind != StmtKind::kNode && stmt.kind != StmtKind::kLet)) continue;
    std::set<ir::NodeId> reads;
    for (const LocalId local : usage_.reads[i]) reads.insert(sources[local].begin(), sources[local].end());
    if (stmt.kind == StmtKind::kLet) {
      sources[stmt.local] = std::move(reads);
      continue;
    }
    const auto stage = static_cast<ir::StageId>(first_stage + stmt.stage);
    nodes_.back() = add({.path = PathOf(c_, path, workflow_.locals[stmt.local].name),
                         .line = c_.LineOf(stmt.span),
                         .stage = workflow_.stages.empty() ? ir::StageId::kNone : stage,
                         .reads = {reads.begin(), reads.end()}});
    sources[stmt.local] = {nodes_.back()};
  }
  for (size_t i = 0; i < workflow_.body.size(); ++i) {
    if (workflow_.body[i].kind == StmtKind::kLet && usage_.charged[i]) nodes_[i] = nodes_[*usage_.charged[i]];
  }
}

void WorkflowBuilder::AddPorts(ir::Workflow& result) {
  for (const Param& param : workflow_.params) {
    const Local& local = workflow_.locals[param.local];
    const ir::TypeId type = values_.DeclaredType(local.type);
    const SlotId slot = tasks_.AddSlot(root_, local.name, type);
    values_.SetSlot(param.local, slot);
    std::optional<ir::Value> missing = param.default_value;
    const std::string told = missing ? DefaultText(local.type, *missing) : "";
    if (!missing && !param.required && out_.types[type].kind == ir::TypeKind::kOptional) missing = ir::Value{};
    result.in.push_back({param.wire_name, type, slot, std::move(missing), param.required, {}, ToString(local.type), told});
  }
  for (size_t i = 0; i < workflow_.results.size(); ++i) {
    result.out.push_back(
        {workflow_.result_wire_names[i], result_types_[i], SlotId::kNone, {}, true, {}, ToString(workflow_.results[i].type)});
    // Several returns copy to a place that is none's own.
    if (has_branches_) result.out.back().slot = tasks_.AddSlot(root_, workflow_.results[i].name, result_types_[i]);
  }
  ports_ = &result.out;
  result.axes = AxesOf(workflow_);
  values_.AddSymbolsOfParameters();
}

void WorkflowBuilder::AddParamChecks() {
  if (workflow_.param_checks.empty()) return;
  const auto write = [&](BodyWriter& writer) {
    writer.WriteChecks(workflow_.param_checks, code::kInputParams);
    return ValueId::kNone;
  };
  const TaskId id = AddEffect(write, true);
  out_[id].of_parameters = true;
  flow_.KeepGate(id);  // all reads of parameters rely on it, those of control points, too
}

// ---- statements ----

// The statements of `block` from `index` on, with those of the arms inside; the index behind them.
size_t WorkflowBuilder::BuildBlock(size_t index, uint32_t block) {
  while (index < workflow_.body.size() && workflow_.body[index].block == block) {
    if (workflow_.body[index].kind == StmtKind::kIf) {
      index = BuildIf(index);
    } else {
      if (usage_.is_needed[index]) BuildStmt(index);
      ++index;
    }
  }
  return index;
}

void WorkflowBuilder::BuildStmt(size_t index) {
  const Stmt& stmt = workflow_.body[index];
  tasks_.set_node(nodes_[index]);
  switch (stmt.kind) {
    case StmtKind::kLet:
      return BuildLet(stmt, usage_.is_shared[index]);
    case StmtKind::kRequire:
    case StmtKind::kFail:
      return BuildRequire(index);
    case StmtKind::kAnnotate:
      return BuildAnnotate(stmt);
    case StmtKind::kNode:
      return BuildNode(stmt);
    case StmtKind::kReturn:
      return BuildReturn(stmt);
    case StmtKind::kIf:
      return;  // BuildBlock's
  }
}

void WorkflowBuilder::BuildLet(const Stmt& stmt, bool is_shared) {
  if (is_shared) {
    const auto write = [&](BodyWriter& writer) { return writer.Write(*stmt.value); };
    values_.SetSlot(stmt.local, values_.AddRun(workflow_.locals[stmt.local].name, write, values_.DeclaredType(stmt.value->type)));
  } else {
    values_.SetLet(stmt.local, *stmt.value);
  }
  values_.AddSymbolsOf(stmt);
}

void WorkflowBuilder::BuildAnnotate(const Stmt& stmt) {
  const auto write = [&](BodyWriter& writer) {
    const ValueId key = writer.Write(*stmt.message), text = writer.Write(*stmt.value);
    if (text == ValueId::kNone) return text;  // it fails
    writer.builder().Emit(OpKind::kAnnotate, ir::TypeId::kNone, {key, text});
    return writer.builder().Bool(true);
  };
  const TaskId id = AddEffect(write, false);
  flow_.AddAnnotation(id);
  out_[id].place = ++c_.annotations;
  // Returns wait for its slot, unless they are bound to fail.
  out_[id].out = tasks_.AddSlot(flow_.region(), "annotated", out_.types.Scalar(DType::kBool));
}

void WorkflowBuilder::BuildNode(const Stmt& stmt) {
  values_.SetSlot(stmt.local, NodeCutter(c_, workflow_, stmt, tasks_, values_).Write());
  values_.AddSymbolsOf(stmt);
}

// A text that waits for what its condition does not is made by what fails, behind a control point that waits for the condition.
void WorkflowBuilder::BuildRequire(size_t index) {
  const Stmt& stmt = workflow_.body[index];
  const auto fail_unless = [&](const Expr* condition) {
    const auto write = [&](BodyWriter& writer) {
      const ValueId holds = condition != nullptr ? writer.Write(*condition) : writer.builder().Bool(false);
      if (holds != ValueId::kNone) writer.WriteFailure(stmt.code, stmt.message.get(), writer.builder().Not(holds), stmt.span);
      return ValueId::kNone;
    };
    AddEffect(write, true);
  };
  if (usage_.later[index].empty()) return fail_unless(stmt.value.get());
  const auto pick = [&](BodyWriter& writer) { return writer.WriteChoice({stmt.value.get()}); };
  AddControlPoint(pick, 2, [&](size_t arm) {
    if (arm == 1) fail_unless(nullptr);
  });
}

size_t WorkflowBuilder::BuildIf(size_t index) { return BuildArms(index, 0, index + 1); }

// The arms of an `if` from number `first` on. Conditions that wait for more than those before them are decided in the arm of what is left.
// `next`: the statement with which the arms begin; the one behind them.
size_t WorkflowBuilder::BuildArms(size_t index, size_t first, size_t next) {
  const Stmt& stmt = workflow_.body[index];
  const std::vector<size_t>& later = usage_.later[index];
  const auto at = std::upper_bound(later.begin(), later.end(), first);
  const size_t end = at == later.end() ? stmt.conditions.size() : *at;
  std::vector<const Expr*> conditions;
  for (size_t i = first; i < end; ++i) conditions.push_back(stmt.conditions[i].get());
  const size_t n_arms = at == later.end() ? stmt.arms.size() - first : conditions.size() + 1;
  tasks_.set_node(own_node_);
  AddControlPoint([&](BodyWriter& writer) { return writer.WriteChoice(conditions); }, n_arms,
                  [&](size_t arm) {
                    const bool is_rest = at != later.end() && arm == conditions.size();
                    next = is_rest ? BuildArms(index, end, next) : BuildBlock(next, stmt.arms[first + arm]);
                  });
  return next;
}

bool WorkflowBuilder::OnlyFail(const std::vector<RegionId>& arms) const {
  const auto fails = [this](TaskId id) {
    const ir::Task& task = out_[id];
    return task.control && (task.kind == TaskKind::kRun || (task.kind == TaskKind::kSelect && OnlyFail(task.targets)));
  };
  return std::all_of(arms.begin(), arms.end(), [&](RegionId arm) {
    const std::vector<TaskId>& inside = out_.regions[Index(arm)].tasks;
    return std::all_of(inside.begin(), inside.end(), fails);
  });
}

// A control point that waits for what its conditions read, and no more: what stands in the arms waits itself. Control has passed when the
// arm that is taken has ended, or when there is none to take.
void WorkflowBuilder::AddControlPoint(const Values::WriteBody& pick, size_t n_arms, const std::function<void(size_t)>& build_arm) {
  ir::Task task = tasks_.NewTask(TaskKind::kSelect);
  const std::optional<TaskId> condition = values_.WritePick(task, pick);
  task.control = true;
  for (size_t i = 0; i < n_arms; ++i) task.targets.push_back(tasks_.OpenRegion(task.region));
  const size_t n_returns = n_returns_;
  for (size_t i = 0; i < n_arms; ++i) {
    const ControlFlow::Arm arm(flow_, task.targets[i]);
    const TaskWriter::Inside inside(tasks_, task.targets[i]);
    build_arm(i);
  }
  // Arms that do more than fail are entered when all control points above have let control pass.
  const bool only_fails = OnlyFail(task.targets);
  const TaskId id = tasks_.AddTask(std::move(task));
  AddGate(id, !only_fails || is_called_, n_returns_ > n_returns);
  if (condition) out_[*condition].after = out_[id].after;  // it waits for what the `if` waits for
}

void WorkflowBuilder::BuildReturn(const Stmt& stmt) {
  ++n_returns_;
  ir::Task task = tasks_.NewTask(TaskKind::kReturn);
  task.line = c_.LineOf(stmt.span);
  if (is_called_) {
    task.in = {ReturnedTuple(stmt)};
  } else {
    for (size_t i = 0; i < stmt.results.size(); ++i) {
      task.in.push_back(ReturnedValue(stmt, i));
      if (!has_branches_) (*ports_)[i].slot = task.in.back();
    }
  }
  std::vector<TaskId> beside;
  for (const TaskId annotation : flow_.annotations()) {
    if (out_[annotation].region == flow_.region()) {
      beside.push_back(annotation);
    } else {
      task.settled.push_back(out_[annotation].out);
    }
  }
  const TaskId id = tasks_.AddTask(std::move(task));
  out_[id].after.insert(out_[id].after.end(), beside.begin(), beside.end());
}

SlotId WorkflowBuilder::ReturnedValue(const Stmt& stmt, size_t index) {
  const Expr& expr = *stmt.results[index];
  const std::string& name = workflow_.results[index].name;
  const ir::TypeId type = result_types_[index];
  const std::optional<SlotId> plain = values_.PlainSlot(expr);
  const SlotId slot = plain ? *plain : values_.AddRun(name, [&](BodyWriter& writer) { return writer.Write(expr); }, type);
  return ir::Fits(out_.types, out_[slot].type, type) ? slot : values_.AddFailing(name, type, &expr);
}

// Several results are computed each for itself, as in a request: of two that fail the first is told.
SlotId WorkflowBuilder::ReturnedTuple(const Stmt& stmt) {
  const ir::TypeId type = out_[out_.regions[Index(root_)].result].type;
  const bool is_alone = stmt.results.size() == 1;
  std::vector<SlotId> slots;
  for (size_t i = 0; i < stmt.results.size() && !is_alone; ++i) slots.push_back(ReturnedValue(stmt, i));
  const auto write = [&](BodyWriter& writer) {
    std::vector<ValueId> values;
    for (const SlotId slot : slots) values.push_back(writer.builder().Slot(slot));
    if (is_alone) values.push_back(writer.Write(*stmt.results[0]));
    return values.back() == ValueId::kNone ? ValueId::kNone : writer.builder().Record(type, std::move(values));
  };
  return values_.AddRun("result", write, type);
}

// The body ends in `fail`: the control point before this decides, and what follows only gives the ports their slots.
void WorkflowBuilder::AddNoReturn(ir::Workflow& result) {
  tasks_.set_node(own_node_);
  ir::Task task = tasks_.NewTask(TaskKind::kReturn);
  for (size_t i = 0; i < workflow_.results.size(); ++i) {
    result.out[i].slot = values_.AddFailing(workflow_.results[i].name, result.out[i].type, nullptr);
    task.in.push_back(result.out[i].slot);
  }
  tasks_.AddTask(std::move(task));
}

// A task that is run for what it does; `is_control`: what follows waits for it.
TaskId WorkflowBuilder::AddEffect(const Values::WriteBody& write, bool is_control) {
  ir::Task task = tasks_.NewTask(TaskKind::kRun);
  task.body = values_.Write(task, write);
  task.control = is_control;
  const TaskId id = tasks_.AddTask(std::move(task));
  if (is_control) AddGate(id, is_called_, false);
  return id;
}

void WorkflowBuilder::AddGate(TaskId id, bool after_all, bool may_return) {
  flow_.AddGate(id, after_all, may_return);
  if (!flow_.is_long()) return;
  // One that only waits: what follows need not list each of so many.
  tasks_.set_node(own_node_);
  ir::Task task = tasks_.NewTask(TaskKind::kRun);
  task.body = values_.Write(task, [](BodyWriter&) { return ValueId::kNone; });
  task.control = true;
  AddGate(tasks_.AddTask(std::move(task)), true, false);
}

}  // namespace wf::sema
