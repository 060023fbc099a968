#include "compiler/sema/build_cut.h"

#include <set>

#include "compiler/sema/build_checks.h"
#include "compiler/sema/build_usage.h"
#include "compiler/sema/settings.h"
#include "runtime/base/error_codes.h"

namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskKind;
using ir::ValueId;

SlotId NodeCutter::Write() {
  const size_t first = out_.tasks.size();
  const size_t around = tasks_.steps();
  const SlotId value = WriteValue();
  tasks_.DropStepsFrom(around);
  Prioritise(first);
  return value;
}

SlotId NodeCutter::WriteValue() {
  const TaskWriter::Inside here(tasks_, tasks_.region());
  const std::string& name = workflow_.locals[node_.local].name;
  const bool has_region = node_.policy.timeout_ns > 0 || node_.fallback != nullptr;
  if (!has_region) return Cut(*node_.value, name, ir::TypeId::kNone, false);
  ir::Policy policy = node_.policy;
  policy.retry = 0;  // each call's
  return Enter(name, {*node_.value, node_.fallback.get(), node_.err_local, tasks_.Intern(policy), true});
}

// The tasks of the node from `first` on that the pool may run. Those of called workflows are of other nodes.
void NodeCutter::Prioritise(size_t first) {
  ir::Policy policy = DefaultPolicy(false);
  if (node_.policy.priority == policy.priority) return;
  policy.priority = node_.policy.priority;
  for (size_t at = first; at < out_.tasks.size(); ++at) {
    ir::Task& task = out_.tasks[at];
    const bool is_fallback = at >= fallback_first_ && at < fallback_end_;
    if (task.kind == TaskKind::kRun && task.node == tasks_.node() && !is_fallback) task.policy = tasks_.Intern(policy);
  }
}

SlotId NodeCutter::Cut(const Expr& expr, const std::string& name, ir::TypeId type_if_fails, bool is_own) {
  if (MayWait(expr)) CutInside(expr);
  const std::optional<SlotId> cut = values_.CutSlot(expr);
  if (cut && out_[*cut].region == tasks_.region() && !IsCheckedWhereRead(expr)) return *cut;
  const std::optional<SlotId> plain = values_.PlainSlot(expr);
  if (plain && !is_own) return *plain;
  if (type_if_fails == ir::TypeId::kNone) type_if_fails = values_.DeclaredType(expr.type);
  return values_.AddRun(name, [&](BodyWriter& writer) { return writer.Write(expr); }, type_if_fails);
}

SlotId NodeCutter::CutIn(RegionId region, const Expr& expr, const std::string& name, ir::TypeId type_if_fails) {
  const TaskWriter::Inside inside(tasks_, region);
  return Cut(expr, name, type_if_fails, true);
}

void NodeCutter::CutInside(const Expr& expr) {
  if (!MayWait(expr)) return;
  switch (expr.kind) {
    case ExprKind::kCallModel:
      return CutModel(expr);
    case ExprKind::kCallExtern:
      return CutExtern(expr);
    case ExprKind::kCallRemote:
      return CutRemote(expr);
    case ExprKind::kCallWorkflow:
      return CutWorkflow(expr);
    case ExprKind::kEach:
      return CutEach(expr);
    case ExprKind::kIf:
      return CutIf(expr, 0);
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kCoalesce:
      return CutLazy(expr);
    case ExprKind::kBlock:
      return CutBlock(expr);
    default:
      for (const ExprPtr& arg : expr.args) CutInside(*arg);
      for (const Subscript& subscript : expr.subscripts) {
        if (subscript.first) CutInside(*subscript.first);
        if (subscript.last) CutInside(*subscript.last);
      }
      if (expr.loop) {
        for (const ExprPtr& source : expr.loop->sources) CutInside(*source);
      }
  }
}

void NodeCutter::SetCut(const Expr& expr, SlotId slot) {
  values_.SetCut(expr, slot);
  values_.AddSymbols(expr.type, {.slot = slot, .is_part = true}, expr.fresh);
}

// `checks_of`: the call, of its last argument. `param`: the type that a called workflow gives it, where some argument is checked.
SlotId NodeCutter::CutArgument(const Expr& expr, const Expr* checks_of, ir::Store store, TypeRef param) {
  if (MayWait(expr)) CutInside(expr);
  const Expr* const inner = expr.kind == ExprKind::kSome && checks_of == nullptr ? expr.args[0].get() : nullptr;
  if (inner != nullptr && !inner->fresh.empty() && !values_.CutSlot(*inner)) {  // extents are not read out of an optional
    SetCut(*inner, values_.AddRun("argument", [&](BodyWriter& writer) { return writer.Write(*inner); }, values_.DeclaredType(inner->type)));
  }
  const bool has_checks = (checks_of != nullptr && HasChecksOfArgs(*checks_of)) || param != nullptr || tasks_.has_gates();
  if (!has_checks) {
    const std::optional<SlotId> cut = values_.CutSlot(expr);
    if (cut && !IsCheckedWhereRead(expr)) return *cut;
    if (const std::optional<SlotId> plain = values_.PlainSlot(expr)) return *plain;
  }
  const auto write = [&](BodyWriter& writer) {
    const ValueId value = writer.Write(expr);
    if (checks_of != nullptr) writer.WriteChecksOfArgs(*checks_of);
    return value;
  };
  const SlotId slot = values_.AddRun("argument", write, values_.DeclaredType(expr.type), store);
  if (param != nullptr) {
    ir::TypeId& held = out_.slots[Index(slot)].type;
    held = ir::Join(out_.types, held, values_.DeclaredType(param));
  }
  values_.AddSymbols(expr.type, {.slot = slot, .is_part = true}, expr.fresh);  // later arguments are compared with it
  return slot;
}

// A call that is never made, since an argument is no value.
bool NodeCutter::CutFailing(const Expr& expr) {
  const auto is_never = [](const ExprPtr& arg) { return arg->type->kind == TypeKind::kNever; };
  if (std::none_of(expr.args.begin(), expr.args.end(), is_never)) return false;
  for (const ExprPtr& arg : expr.args) CutInside(*arg);
  const auto write = [&](BodyWriter& writer) {
    for (const ExprPtr& arg : expr.args)
      if (writer.Write(*arg) == ValueId::kNone) break;
    return ValueId::kNone;
  };
  SetCut(expr, values_.AddRun("argument", write, values_.DeclaredType(expr.type)));
  return true;
}

// The arguments of a call, whose checks follow the last. Where there are some, a called workflow is written for all extents of its
// parameters: those that are known here may differ from what their types say.
std::vector<SlotId> NodeCutter::CutArguments(const Expr& expr, ir::Store store, const Workflow* callee) {
  const bool is_checked = callee != nullptr && HasChecksOfArgs(expr);
  std::vector<SlotId> slots;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    const TypeRef param = is_checked ? callee->locals[callee->params[i].local].type : nullptr;
    slots.push_back(CutArgument(*expr.args[i], i + 1 == expr.args.size() ? &expr : nullptr, store, param));
  }
  return slots;
}

bool NodeCutter::CutStub(const Expr& expr, const std::string& name) {
  const auto stub = c_.stubs.find({expr.kind, expr.index});
  if (stub == c_.stubs.end()) return false;
  for (const ExprPtr& arg : expr.args) CutInside(*arg);
  const auto write = [&](BodyWriter& writer) { return writer.WriteStub(c_.program.functions[stub->second], expr); };
  SetCut(expr, values_.AddRun(name, write, values_.DeclaredType(expr.type)));
  return true;
}

// With what its arguments still need in one task, which may block; in a region of its own that is entered again, where a failure is
// retried.
void NodeCutter::CutExtern(const Expr& expr) {
  if (CutStub(expr, c_.program.functions[expr.index].name)) return;
  for (const ExprPtr& arg : expr.args) CutInside(*arg);
  const bool retries = !in_fallback_ && node_.policy.retry > 0;
  SetCut(expr, retries ? EnterCall(expr) : AddCall(expr));
}

SlotId NodeCutter::EnterCall(const Expr& expr) {
  ir::Policy policy = DefaultPolicy(false);
  policy.retry = node_.policy.retry;
  ir::Task task = tasks_.NewTask(TaskKind::kEnter);
  task.policy = tasks_.Intern(policy);
  const RegionId region = tasks_.OpenRegion(tasks_.region());
  task.targets = {region};
  SlotId result = SlotId::kNone;
  {
    const TaskWriter::Inside inside(tasks_, region);
    result = AddCall(expr);
  }
  out_.regions[Index(region)].result = result;
  tasks_.AddInputs(task, region);
  return tasks_.AddTask(std::move(task), c_.program.functions[expr.index].name, out_[result].type);
}

SlotId NodeCutter::AddCall(const Expr& expr) {
  const auto write = [&](BodyWriter& writer) { return writer.Write(expr); };
  const SlotId out = values_.AddRun(c_.program.functions[expr.index].name, write, values_.DeclaredType(expr.type));
  out_.tasks.back().blocking = c_.program.functions[expr.index].is_extern;
  return out;
}

void NodeCutter::CutRemote(const Expr& expr) {
  const std::string& name = c_.program.remotes[expr.index].name;
  if (CutStub(expr, name) || CutFailing(expr)) return;
  ir::Task task = tasks_.NewTask(TaskKind::kRemote);
  task.in = CutArguments(expr, ir::Store::kDynamic);
  task.remote = static_cast<uint16_t>(expr.index);
  SetCut(expr, tasks_.AddTask(std::move(task), name, values_.DeclaredType(expr.type)));
}

void NodeCutter::CutModel(const Expr& expr) {
  const Model& model = c_.program.models[expr.index];
  if (CutStub(expr, model.name) || CutFailing(expr)) return;
  ir::Task task = tasks_.NewTask(TaskKind::kModel);
  task.in = CutArguments(expr, ir::Store::kStaged);
  ir::Policy policy = model.defaults;
  if (!in_fallback_) {
    if (CountModelCalls(*node_.value) == 1) {
      policy = node_.policy;
    } else {
      policy.priority = node_.policy.priority;
    }
  }
  policy.timeout_ns = 0;  // the region's
  policy.retry = 0;
  task.policy = tasks_.Intern(policy);
  task.model = static_cast<ir::ModelId>(expr.index);
  const bool is_stated = IsCheckedWhereRead(expr);  // extents that are known are then not those that it has
  SetCut(expr, tasks_.AddTask(std::move(task), model.name, is_stated ? values_.DeclaredType(model.result) : values_.TypeOf(expr.type)));
}

SlotId NodeCutter::AddSelect(const Values::WriteBody& pick, const std::vector<std::function<SlotId(ir::TypeId)>>& arms) {
  ir::Task task = tasks_.NewTask(TaskKind::kSelect);
  values_.WritePick(task, pick);
  for (size_t i = 0; i < arms.size(); ++i) task.targets.push_back(tasks_.OpenRegion(task.region));
  ir::TypeId type = ir::TypeId::kNone;
  for (const bool fails : {false, true}) {  // arms that only fail take the type of the others
    if (fails && type == ir::TypeId::kNone) type = out_.types.Scalar(DType::kBool);
    for (size_t i = 0; i < arms.size(); ++i) {
      const RegionId region = task.targets[i];
      if (out_.regions[Index(region)].result != SlotId::kNone) continue;
      const TaskWriter::Inside inside(tasks_, region);
      const SlotId result = arms[i](fails ? type : ir::TypeId::kNone);
      if (result == SlotId::kNone) continue;
      out_.regions[Index(region)].result = result;
      type = type == ir::TypeId::kNone ? out_[result].type : ir::Join(out_.types, type, out_[result].type);
    }
  }
  for (const RegionId target : task.targets) tasks_.AddInputs(task, target);
  return tasks_.AddTask(std::move(task), "choice", type);
}

// The arms that wait become regions; conditions after the first that wait do so in the region of the rest.
void NodeCutter::CutIf(const Expr& expr, size_t first) {
  CutInside(*expr.args[first]);
  bool arms_wait = false, rest_conditions_wait = false;
  for (size_t i = first + 1; i < expr.args.size(); ++i) {
    const bool is_condition = (i - first) % 2 == 0 && i + 1 < expr.args.size();
    const bool waits = MayWait(*expr.args[i]);
    arms_wait = arms_wait || waits;
    rest_conditions_wait = rest_conditions_wait || (is_condition && waits);
  }
  if (!arms_wait) return;
  const size_t conditions = rest_conditions_wait ? 1 : (expr.args.size() - first) / 2;
  std::vector<const Expr*> picked;
  for (size_t i = 0; i < conditions; ++i) picked.push_back(expr.args[first + 2 * i].get());
  const auto pick = [&](BodyWriter& writer) { return writer.WriteChoice(picked); };
  std::vector<std::function<SlotId(ir::TypeId)>> arms;
  const auto arm_of = [this](const Expr& arm) {
    return [this, &arm](ir::TypeId type) {
      if (arm.type->kind == TypeKind::kNever && type == ir::TypeId::kNone) return SlotId::kNone;
      return Cut(arm, "arm", type, true);
    };
  };
  for (size_t i = 0; i < conditions; ++i) arms.push_back(arm_of(*expr.args[first + 2 * i + 1]));
  if (rest_conditions_wait) {
    arms.push_back([&, this](ir::TypeId) {
      CutIf(expr, first + 2);
      if (const auto cut = values_.CutSlot(expr)) {
        values_.TakeCut(expr);
        return *cut;
      }
      return values_.AddRun("arm", [&](BodyWriter& writer) { return writer.WriteIf(expr, first + 2); }, values_.DeclaredType(expr.type));
    });
  } else {
    arms.push_back(arm_of(*expr.args.back()));
  }
  SetCut(expr, AddSelect(pick, arms));
}

// a && b, a || b, a ?? b where b waits: arm 0 is known, arm 1 is b.
void NodeCutter::CutLazy(const Expr& expr) {
  if (!MayWait(*expr.args[1])) return CutInside(*expr.args[0]);
  const SlotId first = Cut(*expr.args[0], "left", ir::TypeId::kNone, false);
  const auto pick = [&](BodyWriter& writer) {
    ir::Builder& b = writer.builder();
    const ValueId value = b.Slot(first);
    ValueId needs = value;
    if (expr.kind == ExprKind::kOr) needs = b.Not(value);
    if (expr.kind == ExprKind::kCoalesce) needs = b.Not(b.Emit(OpKind::kHas, b.ScalarType(DType::kBool), {value}));
    return b.Convert(needs, DType::kI64);
  };
  const auto known = [&](ir::TypeId) {
    return values_.AddRun("left", [&](BodyWriter& writer) {
      ir::Builder& b = writer.builder();
      const ValueId value = b.Slot(first);
      const bool unwraps = expr.kind == ExprKind::kCoalesce && expr.type->kind != TypeKind::kOptional;
      return unwraps ? b.Emit(OpKind::kUnwrap, b.Known(value).element, {value}) : value;
    });
  };
  const auto right = [&](ir::TypeId type) { return Cut(*expr.args[1], "right", type, true); };
  SetCut(expr, AddSelect(pick, {known, right}));
}

// Its lets become tasks, so that the calls between them can read them. The value waits for those, too, that it may not read: they may fail.
void NodeCutter::CutBlock(const Expr& expr) {
  std::vector<SlotId> lets;
  for (const BlockStep& step : expr.steps) {
    if (step.is_let) {
      lets.push_back(Cut(*step.value, workflow_.locals[step.local].name, ir::TypeId::kNone, false));
      tasks_.AddStep(lets.back());
      values_.SetSlot(step.local, lets.back());
      values_.AddSymbols(step.value->type, {.local = step.local, .is_part = true}, step.value->fresh);
      continue;
    }
    CutInside(*step.value);
    const SlotId gate = values_.AddRun("require", [&](BodyWriter& writer) {
      const ValueId holds = writer.Write(*step.value);
      if (holds != ValueId::kNone) writer.WriteFailure(step.code, step.message.get(), writer.builder().Not(holds), step.span);
      return holds;
    });
    tasks_.AddGate(gate);
    tasks_.AddStep(gate);
  }
  std::set<LocalId> read = SureReads(*expr.args[0]);
  for (auto step = expr.steps.rbegin(); step != expr.steps.rend(); ++step) {
    if (step->is_let && !read.contains(step->local)) tasks_.AddGate(lets.back());
    if (step->is_let) lets.pop_back();
    read.merge(SureReads(*step->value));
  }
  values_.SetFlattened(expr);
  CutInside(*expr.args[0]);
}

}  // namespace wf::sema
