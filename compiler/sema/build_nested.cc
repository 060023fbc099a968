// What a node holds in regions of their own: attempts with a fallback, loops and called workflows.

#include <algorithm>

#include "compiler/sema/build_cut.h"
#include "compiler/sema/build_workflow.h"
#include "runtime/base/check.h"

namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskKind;
using ir::ValueId;

namespace {

constexpr size_t kMostTasksWritten = 30'000;  // before another workflow is written in: a plan numbers them with 16 bits

}  // namespace

SlotId NodeCutter::Enter(const std::string& name, const Attempt& attempt) {
  ir::Task task = tasks_.NewTask(TaskKind::kEnter);
  task.policy = attempt.policy;
  const RegionId main = tasks_.OpenRegion(task.region);
  task.targets = {main};
  SlotId result = SlotId::kNone;
  const bool only_fails = attempt.value.type->kind == TypeKind::kNever;
  if (!only_fails) result = CutIn(main, attempt.value, name, ir::TypeId::kNone);
  ir::TypeId type = only_fails ? ir::TypeId::kNone : out_[result].type;
  if (attempt.fallback != nullptr) {
    const RegionId fallback = tasks_.OpenRegion(task.region);
    const ir::TypeId other = out_[CutFallback(name, attempt, fallback, type)].type;
    out_.regions[Index(main)].on_error = fallback;
    type = type == ir::TypeId::kNone ? other : ir::Join(out_.types, type, other);
    WF_CHECK(type != ir::TypeId::kNone);
  }
  if (only_fails) result = CutIn(main, attempt.value, name, type);
  out_.regions[Index(main)].result = result;
  tasks_.AddInputs(task, main);
  if (attempt.fallback != nullptr) tasks_.AddFallback(task, out_.regions[Index(main)].on_error);
  return tasks_.AddTask(std::move(task), name, type);
}

SlotId NodeCutter::CutFallback(const std::string& name, const Attempt& attempt, RegionId region, ir::TypeId type_if_fails) {
  const bool was_in_fallback = std::exchange(in_fallback_, in_fallback_ || attempt.is_node);
  const ir::TypeId string = out_.types.String(), code = out_.types.Scalar(DType::kI32);
  const ir::TypeId error = out_.types.Record("", {{"code", code}, {"message", string}, {"node", string}});
  values_.SetSlot(attempt.err_local, tasks_.AddSlot(region, "err", error));
  const size_t first = out_.tasks.size();
  const SlotId result = CutIn(region, *attempt.fallback, name, type_if_fails);
  if (attempt.is_node) fallback_first_ = first, fallback_end_ = out_.tasks.size();
  in_fallback_ = was_in_fallback;
  out_.regions[Index(region)].result = result;
  return result;
}

void NodeCutter::CutWorkflow(const Expr& expr) {
  const bool is_deep = tasks_.DepthOf(tasks_.region()) == kMaxRegionDepth;
  if (c_.too_large == nullptr && (is_deep || out_.tasks.size() > kMostTasksWritten)) {
    c_.StopAt(expr.span);
    c_.limit = is_deep ? kDepthLimit : "30000 tasks; workflows are written out where they are called";
  }
  if (c_.too_large != nullptr) {
    values_.SetCut(expr, values_.AddFailing("result", values_.DeclaredType(expr.type), nullptr));
    return;
  }
  if (CutFailing(expr)) return;
  const Workflow& callee = c_.program.workflows[expr.index];
  ir::Task task = tasks_.NewTask(TaskKind::kEnter);
  task.in = CutArguments(expr, ir::Store::kDynamic, &callee);
  const source::FileId root = std::exchange(c_.root, callee.span.file);
  WorkflowBuilder inner(c_, callee, out_[task.node].path + "/" + callee.name, task.region);
  c_.writes_calls = true;
  c_.calls.push_back({&expr.span, &callee.name});
  const RegionId region = inner.BuildCall(task.in);
  c_.calls.pop_back();
  task.targets = {region};
  c_.root = root;
  tasks_.AddInputs(task, region);
  SetCut(expr, tasks_.AddTask(std::move(task), callee.name, out_[out_.regions[Index(region)].result].type));
}

// One region per element; the sources are in slots around it.
void NodeCutter::CutEach(const Expr& expr) {
  const Loop& loop = *expr.loop;
  std::vector<SlotId> sources;
  for (const ExprPtr& source : loop.sources) sources.push_back(Cut(*source, "source", ir::TypeId::kNone, false));
  if (counts_.empty()) elements_.emplace(out_, values_, workflow_, node_.limit);
  const SlotId count = values_.AddRun("count", [&](BodyWriter& writer) { return WriteCount(writer, expr, sources); });
  ir::Task task = tasks_.NewTask(TaskKind::kEach);
  task.limit = node_.limit;
  task.body = values_.Write(task, [&](BodyWriter& writer) { return writer.builder().Slot(count); });
  const RegionId body = tasks_.OpenRegion(task.region);
  task.targets = {body};
  size_t local = 0;
  if (loop.enumerate) values_.SetElement(loop.locals[local++], body, SlotId::kNone);
  for (const SlotId source : sources) {
    values_.AddSymbols(workflow_.locals[loop.locals[local]].type, {.local = loop.locals[local], .is_part = true}, {});
    values_.SetElement(loop.locals[local++], body, source);
  }
  counts_.push_back(count);
  const SlotId result = CutElement(expr, body);
  counts_.pop_back();
  out_.regions[Index(body)].result = result;
  for (const SlotId source : sources) {
    if (std::find(task.in.begin(), task.in.end(), source) == task.in.end()) task.in.push_back(source);
  }
  tasks_.AddInputs(task, body);
  values_.SetCut(expr, tasks_.AddTask(std::move(task), "list", out_.types.List(out_[result].type)));
}

SlotId NodeCutter::CutElement(const Expr& each, RegionId body) {
  const std::string name = "element";
  if (each.args.size() == 1) return CutIn(body, *each.args[0], name, ir::TypeId::kNone);
  const TaskWriter::Inside inside(tasks_, body);
  return Enter(name, {*each.args[0], each.args[1].get(), each.local, ir::PolicyId::kNone, false});
}

// What could not be counted before the outermost loop began counts as often as the loops around it have turns.
ValueId NodeCutter::WriteCount(BodyWriter& writer, const Expr& each, const std::vector<SlotId>& sources) {
  ir::Builder& b = writer.builder();
  std::vector<ValueId> values;
  for (const SlotId source : sources) values.push_back(b.Slot(source));
  if (counts_.empty()) return elements_->Write(writer, each, values);
  const ValueId count = writer.CountOf(values);
  if (elements_->IsCounted(each)) return count;
  ValueId all = count;
  for (const SlotId around : counts_) all = b.Binary(OpKind::kMul, all, b.Slot(around));
  elements_->WriteCheck(writer, all);
  return count;
}

}  // namespace wf::sema
