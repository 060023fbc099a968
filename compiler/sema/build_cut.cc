#include <algorithm>

#include "compiler/sema/build_workflow.h"
#include "compiler/sema/settings.h"
#include "runtime/base/check.h"

// Nodes that wait, cut into tasks where they do.
namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskKind;
using ir::ValueId;

namespace {

size_t Index(RegionId id) { return static_cast<size_t>(id); }

}  // namespace

// The slot of a local, where the expression is nothing but that local.
std::optional<SlotId> WorkflowBuilder::PlainSlot(const Expr& expr) const {
  if (expr.kind != ExprKind::kLocal || !expr.checks.empty()) return {};
  const auto slot = slots_.find(expr.local);
  return slot == slots_.end() ? std::nullopt : std::optional(slot->second);
}

// A slot with the value of `expr`; `is_own`: of the current region, written by a task of its own.
SlotId WorkflowBuilder::Cut(const Expr& expr, const std::string& name, ir::TypeId type_if_fails, bool is_own) {
  if (MayWait(expr)) CutInside(expr);
  const std::optional<SlotId> cut = CutSlot(expr);
  if (cut && out_[*cut].region == region_ && expr.checks.empty()) return *cut;
  const std::optional<SlotId> plain = PlainSlot(expr);
  if (plain && !is_own) return *plain;
  if (type_if_fails == ir::TypeId::kNone) type_if_fails = DeclaredType(expr.type);
  return AddRun(name, [&](BodyWriter& writer) { return writer.Write(expr); }, type_if_fails);
}

// Gives every waiting call in `expr` its tasks and its slot; what is left can be written into one body.
void WorkflowBuilder::CutInside(const Expr& expr) {
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

SlotId WorkflowBuilder::CutArgument(const Expr& expr, const Expr* checks_of, ir::Store store) {
  if (MayWait(expr)) CutInside(expr);
  const bool has_checks = (checks_of != nullptr && !checks_of->checks.empty()) || !gates_.empty();
  if (!has_checks && expr.checks.empty()) {
    if (const std::optional<SlotId> cut = CutSlot(expr)) return *cut;
    if (const std::optional<SlotId> plain = PlainSlot(expr)) return *plain;
  }
  const auto write = [&](BodyWriter& writer) {
    const ValueId value = writer.Write(expr);
    if (checks_of != nullptr) writer.WriteChecks(checks_of->checks, 7004);
    return value;
  };
  const SlotId slot = AddRun("argument", write, DeclaredType(expr.type), store);
  AddSymbols(expr.type, std::nullopt, slot, expr.fresh);  // later arguments are compared with it
  return slot;
}

// A call that is never made, since an argument is no value.
bool WorkflowBuilder::CutFailing(const Expr& expr) {
  const auto is_never = [](const ExprPtr& arg) { return arg->type->kind == TypeKind::kNever; };
  if (std::none_of(expr.args.begin(), expr.args.end(), is_never)) return false;
  for (const ExprPtr& arg : expr.args) CutInside(*arg);
  const auto write = [&](BodyWriter& writer) {
    for (const ExprPtr& arg : expr.args)
      if (writer.Write(*arg) == ValueId::kNone) break;
    return ValueId::kNone;
  };
  const SlotId out = AddRun("argument", write, DeclaredType(expr.type));
  cut_[&expr] = out;
  AddSymbols(expr.type, std::nullopt, out, expr.fresh);
  return true;
}

// The arguments of a call, whose checks follow the last.
std::vector<SlotId> WorkflowBuilder::CutArguments(const Expr& expr, ir::Store store) {
  std::vector<SlotId> slots;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    slots.push_back(CutArgument(*expr.args[i], i + 1 == expr.args.size() ? &expr : nullptr, store));
  }
  return slots;
}

bool WorkflowBuilder::CutStub(const Expr& expr, bool is_remote, const std::string& name) {
  const auto stub = c_.stubs.find({is_remote, expr.index});
  if (stub == c_.stubs.end()) return false;
  for (const ExprPtr& arg : expr.args) CutInside(*arg);
  const auto write = [&](BodyWriter& writer) { return writer.WriteStub(c_.program.functions[stub->second], expr); };
  const SlotId out = AddRun(name, write, DeclaredType(expr.type));
  cut_[&expr] = out;
  AddSymbols(expr.type, std::nullopt, out, expr.fresh);
  return true;
}

// With what its arguments still need in one task, which may block; in a region of its own that is entered again, where a failure is
// retried.
void WorkflowBuilder::CutExtern(const Expr& expr) {
  for (const ExprPtr& arg : expr.args) CutInside(*arg);
  const bool retries = stmt_ != nullptr && !in_fallback_ && stmt_->policy.retry > 0;
  const SlotId out = retries ? EnterCall(expr) : AddCall(expr);
  cut_[&expr] = out;
  AddSymbols(expr.type, std::nullopt, out, expr.fresh);
}

SlotId WorkflowBuilder::EnterCall(const Expr& expr) {
  ir::Policy policy = DefaultPolicy(false);
  policy.retry = stmt_->policy.retry;
  ir::Task task{.kind = TaskKind::kEnter, .region = region_, .node = node_, .policy = Intern(policy)};
  const std::vector<SlotId> outer_gates = std::exchange(gates_, {});
  const RegionId outer = std::exchange(region_, OpenRegion(region_, node_));
  task.targets = {region_};
  const SlotId result = AddCall(expr);
  out_.regions[Index(region_)].result = result;
  gates_ = outer_gates;
  region_ = outer;
  AddInputs(task, task.targets[0]);
  task.out = AddSlot(region_, c_.program.functions[expr.index].name, out_[result].type);
  const SlotId out = task.out;
  AddTask(std::move(task));
  return out;
}

SlotId WorkflowBuilder::AddCall(const Expr& expr) {
  const auto write = [&](BodyWriter& writer) { return writer.Write(expr); };
  const SlotId out = AddRun(c_.program.functions[expr.index].name, write, DeclaredType(expr.type));
  out_.tasks.back().blocking = true;
  const ir::Policy plain = DefaultPolicy(false);
  if (stmt_ != nullptr && !in_fallback_ && stmt_->policy.priority != plain.priority) {
    ir::Policy policy = plain;
    policy.priority = stmt_->policy.priority;
    out_.tasks.back().policy = Intern(policy);
  }
  return out;
}

void WorkflowBuilder::CutRemote(const Expr& expr) {
  const std::string& name = c_.program.remotes[expr.index].name;
  if (CutStub(expr, true, name) || CutFailing(expr)) return;
  ir::Task task{.kind = TaskKind::kRemote, .region = region_, .node = node_};
  task.in = CutArguments(expr, ir::Store::kDynamic);
  task.remote = static_cast<uint16_t>(expr.index);
  task.out = AddSlot(region_, name, DeclaredType(expr.type));
  const SlotId out = task.out;
  AddTask(std::move(task));
  cut_[&expr] = out;
  AddSymbols(expr.type, std::nullopt, out, expr.fresh);
}

void WorkflowBuilder::CutModel(const Expr& expr) {
  const Model& model = c_.program.models[expr.index];
  if (CutStub(expr, false, model.name) || CutFailing(expr)) return;
  ir::Task task{.kind = TaskKind::kModel, .region = region_, .node = node_};
  task.in = CutArguments(expr, ir::Store::kStaged);
  ir::Policy policy = model.defaults;
  const Expr* const whole = stmt_ == nullptr ? nullptr : in_fallback_ ? stmt_->fallback.get() : stmt_->value.get();
  if (stmt_ != nullptr && !in_fallback_) {
    if (CountModelCalls(*whole) == 1) {
      policy = stmt_->policy;
    } else {
      policy.priority = stmt_->policy.priority;
    }
  }
  policy.timeout_ns = 0;  // the region's
  policy.retry = 0;
  task.policy = Intern(policy);
  task.model = static_cast<ir::ModelId>(expr.index);
  ir::Body scratch;
  const ir::TypeId type = BodyWriter(c_, scratch, this).TypeOf(expr.type);
  task.out = AddSlot(region_, model.name, type);
  const SlotId out = task.out;
  AddTask(std::move(task));
  cut_[&expr] = out;
  AddSymbols(expr.type, std::nullopt, out, expr.fresh);
}

SlotId WorkflowBuilder::AddSelect(const std::string& name, const WriteBody& pick,
                                  const std::vector<std::function<SlotId(ir::TypeId)>>& arms) {
  ir::Task task{.kind = TaskKind::kSelect, .region = region_, .node = node_};
  task.body = WriteTaskBody(task, pick);
  const RegionId outer = region_;
  const std::vector<SlotId> outer_gates = std::exchange(gates_, {});
  for (size_t i = 0; i < arms.size(); ++i) task.targets.push_back(OpenRegion(outer, node_));
  ir::TypeId type = ir::TypeId::kNone;
  for (const bool fails : {false, true}) {  // arms that only fail take the type of the others
    if (fails && type == ir::TypeId::kNone) type = out_.types.Scalar(DType::kBool);
    for (size_t i = 0; i < arms.size(); ++i) {
      if (out_.regions[Index(task.targets[i])].result != SlotId::kNone) continue;
      region_ = task.targets[i];
      gates_.clear();
      const SlotId result = arms[i](fails ? type : ir::TypeId::kNone);
      if (result == SlotId::kNone) continue;
      out_.regions[Index(region_)].result = result;
      type = type == ir::TypeId::kNone ? out_[result].type : ir::Join(out_.types, type, out_[result].type);
    }
  }
  region_ = outer;
  gates_ = outer_gates;
  for (const RegionId target : task.targets) AddInputs(task, target);
  task.out = AddSlot(region_, name, type);
  const SlotId out = task.out;
  AddTask(std::move(task));
  return out;
}

void WorkflowBuilder::AddInputs(ir::Task& task, RegionId region) const {
  std::unordered_set<SlotId> known(task.in.begin(), task.in.end());
  for (const SlotId slot : OuterReads(region)) {
    if (known.insert(slot).second) task.in.push_back(slot);
  }
}

// The arms that wait become regions; conditions after the first that wait do so in the region of the rest.
void WorkflowBuilder::CutIf(const Expr& expr, size_t first) {
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
      if (const auto cut = CutSlot(expr)) {
        cut_.erase(&expr);
        return *cut;
      }
      return AddRun("arm", [&](BodyWriter& writer) { return writer.WriteIf(expr, first + 2); }, DeclaredType(expr.type));
    });
  } else {
    arms.push_back(arm_of(*expr.args.back()));
  }
  cut_[&expr] = AddSelect("choice", pick, arms);
}

// a && b, a || b, a ?? b where b waits: arm 0 is known, arm 1 is b.
void WorkflowBuilder::CutLazy(const Expr& expr) {
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
    return AddRun("left", [&](BodyWriter& writer) {
      ir::Builder& b = writer.builder();
      const ValueId value = b.Slot(first);
      const bool unwraps = expr.kind == ExprKind::kCoalesce && expr.type->kind != TypeKind::kOptional;
      return unwraps ? b.Emit(OpKind::kUnwrap, b.Known(value).element, {value}) : value;
    });
  };
  cut_[&expr] = AddSelect("choice", pick, {known, [&](ir::TypeId type) { return Cut(*expr.args[1], "right", type, true); }});
}

// Its lets become tasks, so that the calls between them can read them.
void WorkflowBuilder::CutBlock(const Expr& expr) {
  for (const BlockStep& step : expr.steps) {
    if (step.is_let) {
      SetSlot(step.local, Cut(*step.value, workflow_.locals[step.local].name, ir::TypeId::kNone, false));
      AddSymbols(step.value->type, step.local, SlotId::kNone, step.value->fresh);
      continue;
    }
    CutInside(*step.value);
    gates_.push_back(AddRun("require", [&](BodyWriter& writer) {
      const ValueId holds = writer.Write(*step.value);
      if (holds != ValueId::kNone) writer.WriteFailure(step.code, step.message.get(), writer.builder().Not(holds), step.span);
      return holds;
    }));
  }
  flattened_.insert(&expr);
  CutInside(*expr.args[0]);
}

SlotId WorkflowBuilder::EnterRegion(const std::string& name, const Attempt& attempt) {
  const RegionId outer = region_;
  const std::vector<SlotId> outer_gates = std::exchange(gates_, {});
  ir::Task task{.kind = TaskKind::kEnter, .region = outer, .node = node_, .policy = attempt.policy};
  const RegionId main = OpenRegion(outer, node_);
  task.targets = {main};
  region_ = main;
  SlotId result = SlotId::kNone;
  const bool only_fails = attempt.value.type->kind == TypeKind::kNever;
  if (!only_fails) result = Cut(attempt.value, name, ir::TypeId::kNone, true);
  ir::TypeId type = only_fails ? ir::TypeId::kNone : out_[result].type;
  if (attempt.fallback != nullptr) {
    const RegionId fallback = OpenRegion(outer, node_);
    region_ = fallback;
    gates_.clear();
    const bool was_in_fallback = std::exchange(in_fallback_, in_fallback_ || attempt.is_node);
    const ir::TypeId string = out_.types.String(), code = out_.types.Scalar(DType::kI32);
    const ir::TypeId error = out_.types.Record("", {{"code", code}, {"message", string}, {"node", string}});
    SetSlot(attempt.err_local, AddSlot(fallback, "err", error));
    const SlotId other = Cut(*attempt.fallback, name, type, true);
    in_fallback_ = was_in_fallback;
    out_.regions[Index(fallback)].result = other;
    out_.regions[Index(main)].on_error = fallback;
    type = type == ir::TypeId::kNone ? out_[other].type : ir::Join(out_.types, type, out_[other].type);
    WF_CHECK(type != ir::TypeId::kNone);
  }
  if (only_fails) {
    region_ = main;
    gates_.clear();
    result = Cut(attempt.value, name, type, true);
  }
  gates_ = outer_gates;
  region_ = outer;
  out_.regions[Index(main)].result = result;
  AddInputs(task, main);
  if (attempt.fallback != nullptr) {
    for (const SlotId slot : OuterReads(out_.regions[Index(main)].on_error)) {
      if (std::find(task.in.begin(), task.in.end(), slot) == task.in.end()) task.settled.push_back(slot);
    }
  }
  task.out = AddSlot(outer, name, type);
  const SlotId out = task.out;
  AddTask(std::move(task));
  return out;
}

}  // namespace wf::sema
