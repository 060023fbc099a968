#include "compiler/sema/build_workflow.h"

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;
using ir::ValueId;

namespace {

template <typename Id>
size_t Index(Id id) {
  return static_cast<size_t>(id);
}

void AddOnce(std::vector<SlotId>& slots, SlotId slot) {
  if (std::find(slots.begin(), slots.end(), slot) == slots.end()) slots.push_back(slot);
}

}  // namespace

void WorkflowBuilder::Build(ir::Workflow& result) {
  Start(RegionId::kNone);
  AddPorts(result);
  AddParamChecks();
  BuildBlock(0, 0);
  if (n_returns_ == 0 && !has_branches_) AddNoReturn(result);
  for (const RegionId flow : flows_) PruneAfter(flow);
  result.root = root_;
}

// A path that no other node has: those of two arms may have one name.
std::string WorkflowBuilder::PathOf(const std::string& name) {
  const std::string path = name.empty() ? path_ : path_.empty() ? name : path_ + "/" + name;
  const int count = ++c_.paths[path];
  return count == 1 ? path : path + "." + std::to_string(count);
}

void WorkflowBuilder::AddNodes() {
  path_ = PathOf("");
  first_stage_ = static_cast<uint16_t>(out_.stages.size());
  for (const Workflow::Stage& stage : workflow_.stages) out_.stages.push_back({path_, stage.name, stage.written});
  const auto add = [&](ir::Node node) {
    out_.nodes.push_back(std::move(node));
    return ir::NodeId{static_cast<uint16_t>(out_.nodes.size() - 1)};
  };
  own_node_ = node_ = add({.path = path_, .line = c_.LineOf(workflow_.span), .stage = ir::StageId::kNone, .reads = {}});
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
    const auto stage = static_cast<ir::StageId>(first_stage_ + stmt.stage);
    nodes_.back() = add({.path = PathOf(workflow_.locals[stmt.local].name),
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
  ir::Body scratch;
  BodyWriter writer(c_, scratch, nullptr);
  for (const Param& param : workflow_.params) {
    const Local& local = workflow_.locals[param.local];
    const ir::TypeId type = writer.TypeOf(local.type);
    SetSlot(param.local, AddSlot(root_, local.name, type));
    std::optional<ir::Value> missing = param.default_value;
    if (!missing && !param.required && out_.types[type].kind == ir::TypeKind::kOptional) missing = ir::Value{};
    result.in.push_back({param.wire_name, type, slots_.at(param.local), std::move(missing), param.required});
  }
  for (size_t i = 0; i < workflow_.results.size(); ++i) {
    result.out.push_back({workflow_.result_wire_names[i], writer.TypeOf(workflow_.results[i].type), SlotId::kNone, {}, true});
    // Several returns copy to a place that is none's own.
    if (has_branches_) result.out.back().slot = AddSlot(root_, workflow_.results[i].name, result.out.back().type);
  }
  ports_ = &result.out;
  AddParamSymbols();
}

void WorkflowBuilder::AddParamSymbols() {
  for (FreshSymbol fresh : workflow_.param_symbols) {
    const uint32_t param = fresh.path[0];
    fresh.path.erase(fresh.path.begin());
    const LocalId local = workflow_.params[param].local;
    symbols_[fresh.symbol] = {.local = local, .slot = {}, .type = workflow_.locals[local].type, .fresh = fresh};
  }
}

void WorkflowBuilder::AddParamChecks() {
  if (workflow_.param_checks.empty()) return;
  // All reads of parameters rely on it, those of control points, too.
  exits_.push_back(AddControl(
      [&](BodyWriter& writer) {
        writer.WriteChecks(workflow_.param_checks, code::kInputParams);
        return ValueId::kNone;
      },
      true));
}

void WorkflowBuilder::BuildStmt(size_t index) {
  const Stmt& stmt = workflow_.body[index];
  node_ = nodes_[index];
  switch (stmt.kind) {
    case StmtKind::kLet:
      if (usage_.is_shared[index]) {
        SetSlot(stmt.local, AddRun(
                                workflow_.locals[stmt.local].name, [&](BodyWriter& writer) { return writer.Write(*stmt.value); },
                                DeclaredType(stmt.value->type)));
      } else {
        lets_[stmt.local] = stmt.value.get();
      }
      AddSymbols(stmt.value->type, stmt.local, SlotId::kNone, stmt.value->fresh);
      AddSymbols(workflow_.locals[stmt.local].type, stmt.local, SlotId::kNone, {});
      return;
    case StmtKind::kRequire:
    case StmtKind::kFail:
      AddControl(
          [&](BodyWriter& writer) {
            const ValueId holds = stmt.value ? writer.Write(*stmt.value) : writer.builder().Bool(false);
            if (holds != ValueId::kNone) writer.WriteFailure(stmt.code, stmt.message.get(), writer.builder().Not(holds), stmt.span);
            return ValueId::kNone;
          },
          true);
      return;
    case StmtKind::kAnnotate:
      annotations_.push_back(AddControl(
          [&](BodyWriter& writer) {
            const ValueId key = writer.Write(*stmt.message), text = writer.Write(*stmt.value);
            if (text == ValueId::kNone) return text;  // it fails
            writer.builder().Emit(OpKind::kAnnotate, ir::TypeId::kNone, {key, text});
            return has_branches_ ? writer.builder().Bool(true) : ValueId::kNone;
          },
          false));
      out_[annotations_.back()].place = ++c_.annotations;
      // Returns inside arms wait for its slot.
      if (has_branches_) out_[annotations_.back()].out = AddSlot(flow_, "annotated", out_.types.Scalar(DType::kBool));
      return;
    case StmtKind::kNode:
      BuildNode(index);
      return;
    case StmtKind::kIf:
    case StmtKind::kReturn:
      return;
  }
}

void WorkflowBuilder::BuildNode(size_t index) {
  const Stmt& stmt = workflow_.body[index];
  stmt_ = &stmt;
  const std::string& name = workflow_.locals[stmt.local].name;
  const bool has_region = stmt.policy.timeout_ns > 0 || stmt.fallback != nullptr;
  ir::Policy policy = stmt.policy;
  policy.retry = 0;  // each call's
  const SlotId slot = has_region ? EnterRegion(name, {*stmt.value, stmt.fallback.get(), stmt.err_local, Intern(policy), true})
                                 : Cut(*stmt.value, name, ir::TypeId::kNone, false);
  SetSlot(stmt.local, slot);
  stmt_ = nullptr;
  gates_.clear();
  AddSymbols(stmt.value->type, stmt.local, SlotId::kNone, stmt.value->fresh);
  AddSymbols(workflow_.locals[stmt.local].type, stmt.local, SlotId::kNone, {});
}

// The body ends in `fail`: the control point before this decides, and what follows only gives the ports their slots.
void WorkflowBuilder::AddNoReturn(ir::Workflow& result) {
  node_ = own_node_;
  ir::Task task{.kind = TaskKind::kReturn, .region = root_, .node = own_node_};
  for (size_t i = 0; i < workflow_.results.size(); ++i) {
    result.out[i].slot = AddFailing(workflow_.results[i].name, result.out[i].type, nullptr);
    task.in.push_back(result.out[i].slot);
  }
  AddTask(std::move(task));
}

// A slot of `type` that never gets a value: its task fails, with the failure of what `expr` reads if that has one.
SlotId WorkflowBuilder::AddFailing(const std::string& name, ir::TypeId type, const Expr* expr) {
  const auto write = [&](BodyWriter& writer) {
    if (expr != nullptr) writer.Write(*expr);
    writer.WriteFailure(code::kInference, nullptr, writer.builder().Bool(true), workflow_.span);
    return ValueId::kNone;
  };
  return AddRun(name, write, type);
}

ir::TypeId WorkflowBuilder::DeclaredType(TypeRef type) {
  if (type->kind == TypeKind::kNever || type->kind == TypeKind::kError || type->kind == TypeKind::kNone) return ir::TypeId::kNone;
  ir::Body scratch;
  return BodyWriter(c_, scratch, nullptr).TypeOf(type);
}

// ---- parts ----

RegionId WorkflowBuilder::OpenRegion(RegionId parent, ir::NodeId node) {
  out_.regions.push_back({.parent = parent, .node = node});
  return RegionId{static_cast<uint16_t>(out_.regions.size() - 1)};
}

SlotId WorkflowBuilder::AddSlot(RegionId region, const std::string& name, ir::TypeId type, ir::Store store) {
  out_.slots.push_back({.name = name, .type = type, .region = region, .store = store});
  const SlotId id{static_cast<uint16_t>(out_.slots.size() - 1)};
  out_.regions[Index(region)].slots.push_back(id);
  return id;
}

TaskId WorkflowBuilder::AddTask(ir::Task task) {
  if (task.region == flow_) task.after = controls_;
  if (task.kind != TaskKind::kModel) {
    for (const SlotId gate : gates_) AddOnce(task.in, gate);
  }
  out_.tasks.push_back(std::move(task));
  const TaskId id{static_cast<uint16_t>(out_.tasks.size() - 1)};
  out_.regions[Index(out_.tasks.back().region)].tasks.push_back(id);
  return id;
}

ir::Body WorkflowBuilder::WriteTaskBody(ir::Task& task, const WriteBody& write) {
  ir::Body body;
  BodyWriter writer(c_, body, this);
  writer.builder().set_line(out_[task.node].line);
  const ValueId result = write(writer);
  writer.builder().Close(result);
  for (const ValueId id : body.blocks[0].ops) {
    if (body[id].kind == OpKind::kSlot) task.in.push_back(SlotId{static_cast<uint16_t>(body[id].imm)});  // each once
  }
  return body;
}

SlotId WorkflowBuilder::AddRun(const std::string& name, const WriteBody& write, ir::TypeId type, ir::Store store) {
  ir::Task task{.kind = TaskKind::kRun, .region = region_, .node = node_};
  task.body = WriteTaskBody(task, write);
  const ValueId result = task.body.blocks[0].result;
  if (result != ValueId::kNone) type = task.body[result].type;
  if (type == ir::TypeId::kNone) type = out_.types.Scalar(DType::kBool);  // of a node that only fails
  task.out = AddSlot(region_, name, type, store);
  const SlotId out = task.out;
  AddTask(std::move(task));
  return out;
}

TaskId WorkflowBuilder::AddControl(const WriteBody& write, bool is_control) {
  ir::Task task{.kind = TaskKind::kRun, .region = region_, .node = node_};
  task.body = WriteTaskBody(task, write);
  task.control = is_control;
  const TaskId id = AddTask(std::move(task));
  if (is_control) AddGate(id, is_inlined_, false);
  return id;
}

ir::PolicyId WorkflowBuilder::Intern(const ir::Policy& policy) {
  const auto found = std::find(out_.policies.begin(), out_.policies.end(), policy);
  const auto index = static_cast<uint16_t>(found - out_.policies.begin());
  if (found == out_.policies.end()) out_.policies.push_back(policy);
  return ir::PolicyId{index};
}

bool WorkflowBuilder::IsInside(RegionId inner, RegionId outer) const {
  for (; inner != RegionId::kNone; inner = out_.regions[Index(inner)].parent) {
    if (inner == outer) return true;
  }
  return false;
}

int WorkflowBuilder::DepthOf(RegionId region) const {
  int depth = 0;
  for (; out_.regions[Index(region)].parent != RegionId::kNone; region = out_.regions[Index(region)].parent) ++depth;
  return depth;
}

// A task that enters regions reads what those read, but for a statement `if`. Regions around `region` were opened before it.
std::vector<SlotId> WorkflowBuilder::OuterReads(RegionId region) const {
  std::vector<SlotId> reads;
  std::unordered_set<SlotId> known;
  std::set<RegionId> pending{region};
  while (!pending.empty()) {
    const RegionId next = *pending.begin();
    pending.erase(pending.begin());
    for (const TaskId id : out_.regions[Index(next)].tasks) {
      const ir::Task& task = out_[id];
      for (const auto* slots : {&task.in, &task.settled}) {
        for (const SlotId slot : *slots) {
          if (out_[slot].region < region && known.insert(slot).second) reads.push_back(slot);
        }
      }
      if (task.kind != TaskKind::kSelect || !task.control) continue;
      for (const RegionId target : task.targets) {
        if (target > next) pending.insert(target);
      }
    }
  }
  return reads;
}

void WorkflowBuilder::SetSlot(LocalId local, SlotId slot) { slots_[local] = slot; }

void WorkflowBuilder::AddSymbols(TypeRef type, std::optional<LocalId> local, SlotId slot, const std::vector<FreshSymbol>& fresh) {
  // What a part of a node brought into being is read of the node when it is there: the part may lie in a region that ends with it.
  const auto add = [&](const FreshSymbol& symbol) {
    const SymbolSource source{.local = local, .slot = slot, .type = type, .fresh = symbol, .is_part = stmt_ != nullptr};
    const auto [at, is_new] = symbols_.try_emplace(symbol.symbol, source);
    if (!is_new && at->second.is_part && !source.is_part) at->second = source;
  };
  for (const FreshSymbol& symbol : fresh) add(symbol);
  if (type->kind != TypeKind::kTensor) return;
  for (uint32_t axis = 0; axis < type->dims.size(); ++axis) {
    const std::optional<Dim::Linear> linear = type->dims[axis].AsLinear();
    if (!linear || linear->mul <= 0) continue;
    add({.symbol = linear->symbol, .path = {}, .axis = axis, .mul = linear->mul, .add = linear->add});
  }
}

// ---- Outer ----

ValueId WorkflowBuilder::Read(BodyWriter& writer, LocalId local) {
  if (const auto slot = slots_.find(local); slot != slots_.end()) return writer.builder().Slot(slot->second);
  if (const auto element = elements_.find(local); element != elements_.end()) return ReadElement(writer, local, element->second);
  const auto let = lets_.find(local);
  WF_CHECK(let != lets_.end(), workflow_.locals[local].name);
  return writer.Write(*let->second);
}

std::optional<ValueId> WorkflowBuilder::Symbol(BodyWriter& writer, const std::string& symbol) {
  const auto found = symbols_.find(symbol);
  if (found == symbols_.end()) return {};
  const SymbolSource& source = found->second;
  if (!source.local && !IsInside(region_, out_[source.slot].region)) return {};
  return writer.AtRoot([&] {
    const ValueId value = source.local ? writer.ReadOuter(*source.local) : writer.builder().Slot(source.slot);
    return writer.SolveAt(value, source.type, source.fresh);
  });
}

bool WorkflowBuilder::IsParameter(SlotId slot) const {
  const auto is_it = [&](const Param& param) { return slots_.at(param.local) == slot; };
  return !is_inlined_ && std::any_of(workflow_.params.begin(), workflow_.params.end(), is_it);
}

std::optional<SlotId> WorkflowBuilder::CutSlot(const Expr& expr) const {
  const auto found = cut_.find(&expr);
  return found == cut_.end() ? std::nullopt : std::optional(found->second);
}

void Renumber(ir::Program& program) {
  std::vector<SlotId> slot_of(program.slots.size());
  std::vector<TaskId> task_of(program.tasks.size());
  std::vector<ir::Slot> slots;
  std::vector<ir::Task> tasks;
  for (ir::Region& region : program.regions) {
    for (SlotId& slot : region.slots) {
      slot_of[Index(slot)] = SlotId{static_cast<uint16_t>(slots.size())};
      slots.push_back(std::move(program.slots[Index(slot)]));
      slot = slot_of[Index(slot)];
    }
    for (TaskId& task : region.tasks) {
      task_of[Index(task)] = TaskId{static_cast<uint16_t>(tasks.size())};
      tasks.push_back(std::move(program.tasks[Index(task)]));
      task = task_of[Index(task)];
    }
  }
  program.slots = std::move(slots);
  program.tasks = std::move(tasks);
  const auto move_slot = [&](SlotId& slot) {
    if (slot != SlotId::kNone) slot = slot_of[Index(slot)];
  };
  for (ir::Region& region : program.regions) move_slot(region.result);
  for (ir::Task& task : program.tasks) {
    move_slot(task.out);
    std::for_each(task.in.begin(), task.in.end(), move_slot);
    std::for_each(task.settled.begin(), task.settled.end(), move_slot);
    for (TaskId& before : task.after) before = task_of[Index(before)];
    for (ir::Op& op : task.body.ops) {
      if (op.kind == OpKind::kSlot) op.imm = Index(slot_of[op.imm]);
    }
  }
  for (ir::Workflow& workflow : program.workflows) {
    for (ir::Port& port : workflow.in) move_slot(port.slot);
    for (ir::Port& port : workflow.out) move_slot(port.slot);
  }
}

}  // namespace wf::sema
