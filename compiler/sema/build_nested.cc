#include <algorithm>

#include "compiler/sema/build_workflow.h"

// What a node holds in regions of their own: loops and called workflows.
namespace wf::sema {

using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskKind;
using ir::ValueId;

namespace {

constexpr size_t kMostTasksWritten = 30'000;  // before another workflow is written in: ids have 16 bits
constexpr int32_t kInputParams = 5000;

size_t Index(auto id) { return static_cast<size_t>(id); }

}  // namespace

void WorkflowBuilder::CutWorkflow(const Expr& expr) {
  const bool is_deep = DepthOf(region_) == kMaxRegionDepth;
  if (c_.too_large == nullptr && (is_deep || out_.tasks.size() > kMostTasksWritten)) {
    c_.too_large = &expr.span;
    c_.limit = is_deep ? kDepthLimit : "30000 tasks; workflows are written out where they are called";
  }
  if (c_.too_large != nullptr) {
    cut_[&expr] = AddFailing("result", DeclaredType(expr.type), nullptr);
    return;
  }
  if (CutFailing(expr)) return;
  const Workflow& callee = c_.program.workflows[expr.index];
  ir::Task task{.kind = TaskKind::kEnter, .region = region_, .node = node_};
  task.in = CutArguments(expr, ir::Store::kDynamic);
  const source::FileId root = std::exchange(c_.root, callee.span.file);
  WorkflowBuilder inner(c_, callee, out_[node_].path + "/" + callee.name);
  task.targets = {inner.Inline(region_, task.in)};
  c_.root = root;
  AddInputs(task, task.targets[0]);
  task.out = AddSlot(region_, callee.name, out_[out_.regions[Index(task.targets[0])].result].type);
  cut_[&expr] = task.out;
  AddTask(std::move(task));
  AddSymbols(expr.type, std::nullopt, cut_.at(&expr), expr.fresh);
}

// One region per element; the sources are in slots around it.
void WorkflowBuilder::CutEach(const Expr& expr) {
  const Loop& loop = *expr.loop;
  std::vector<SlotId> sources;
  for (const ExprPtr& source : loop.sources) sources.push_back(Cut(*source, "source", ir::TypeId::kNone, false));
  const SlotId count = AddRun("count", [&](BodyWriter& writer) { return WriteCount(writer, sources); });
  ir::Task task{.kind = TaskKind::kEach, .region = region_, .node = node_, .limit = stmt_->limit};
  task.body = WriteTaskBody(task, [&](BodyWriter& writer) { return writer.builder().Slot(count); });
  const RegionId outer = region_, body = OpenRegion(outer, node_);
  task.targets = {body};
  const std::vector<SlotId> outer_gates = std::exchange(gates_, {});
  region_ = body;
  counts_.push_back(count);
  size_t local = 0;
  if (loop.enumerate) elements_[loop.locals[local++]] = {body, SlotId::kNone};
  for (const SlotId source : sources) {
    AddSymbols(workflow_.locals[loop.locals[local]].type, loop.locals[local], SlotId::kNone, {});
    elements_[loop.locals[local++]] = {body, source};
  }
  const bool may_fall_back = expr.args.size() > 1;
  const Attempt attempt{*expr.args[0], may_fall_back ? expr.args[1].get() : nullptr, expr.local, ir::PolicyId::kNone, false};
  const SlotId result = may_fall_back ? EnterRegion("element", attempt) : Cut(*expr.args[0], "element", ir::TypeId::kNone, true);
  counts_.pop_back();
  gates_ = outer_gates;
  region_ = outer;
  out_.regions[Index(body)].result = result;
  for (const SlotId source : sources) {
    if (std::find(task.in.begin(), task.in.end(), source) == task.in.end()) task.in.push_back(source);
  }
  AddInputs(task, body);
  task.out = AddSlot(outer, "list", out_.types.List(out_[result].type));
  cut_[&expr] = task.out;
  AddTask(std::move(task));
}

// Elements of one node are counted together: those of a loop inside a loop once for each turn of the outer one.
ValueId WorkflowBuilder::WriteCount(BodyWriter& writer, const std::vector<SlotId>& sources) const {
  ir::Builder& b = writer.builder();
  std::vector<ValueId> values;
  for (const SlotId source : sources) values.push_back(b.Slot(source));
  const ValueId count = writer.CountOf(values);
  ValueId all = count;
  for (const SlotId around : counts_) all = b.Binary(OpKind::kMul, all, b.Slot(around));
  const ir::BlockId message = b.Open({});
  const std::string text = "{} elements, and `limit` is " + std::to_string(stmt_->limit);
  b.Close(b.Emit(OpKind::kText, b.types().String(), {all}, ir::AddText(out_, text)));
  b.FailIf(b.Binary(OpKind::kLt, b.I64(stmt_->limit), all), kInputParams, message);
  return count;
}

// Written where it is read; regions inside the element's own have no position, so there it is in a slot.
ValueId WorkflowBuilder::ReadElement(BodyWriter& writer, LocalId local, const Element& element) {
  const auto write = [&](BodyWriter& in) {
    ir::Builder& b = in.builder();
    const ValueId position = b.Emit(OpKind::kElement, b.ScalarType(DType::kI64));
    return element.source == SlotId::kNone ? position : in.ElementOf(b.Slot(element.source), position);
  };
  if (region_ == element.region) return write(writer);
  const RegionId reader = std::exchange(region_, element.region);
  const std::vector<SlotId> gates = std::exchange(gates_, {});
  const SlotId slot = AddRun(workflow_.locals[local].name, write);
  region_ = reader;
  gates_ = gates;
  SetSlot(local, slot);
  return writer.builder().Slot(slot);
}

}  // namespace wf::sema
