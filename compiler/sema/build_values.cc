#include "compiler/sema/build_values.h"

#include <algorithm>

#include "compiler/ir/told.h"
#include "compiler/sema/resolve_type.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::sema {

using ir::OpKind;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;
using ir::ValueId;

namespace {

constexpr size_t kMostShortOps = 256;  // well below a microsecond

// One of constant time: no loop, no work that grows with a value, nothing that calls the runtime.
bool IsShort(const ir::Body& body, const ir::Op& op) {
  switch (ir::InfoOf(op.kind).group) {
    case ir::OpGroup::kLeaf:
    case ir::OpGroup::kIf:
    case ir::OpGroup::kScalar:
    case ir::OpGroup::kMath:
    case ir::OpGroup::kRecord:
      return true;
    case ir::OpGroup::kTensor:
      return op.blocks.empty();
    case ir::OpGroup::kList:
      return op.kind == OpKind::kListLen || op.kind == OpKind::kListGet;
    case ir::OpGroup::kText: {
      const auto is_written = [&](ValueId arg) { return body[arg].kind == OpKind::kConstant; };  // texts of other lengths differ at once
      return op.kind == OpKind::kStringLen || (op.kind == OpKind::kStringEqual && std::any_of(op.args.begin(), op.args.end(), is_written));
    }
    case ir::OpGroup::kEffect:
      return false;
  }
  return false;
}

bool IsShort(const ir::Body& body) {
  return body.ops.size() <= kMostShortOps &&
         std::all_of(body.ops.begin(), body.ops.end(), [&](const ir::Op& op) { return IsShort(body, op); });
}

}  // namespace

void Values::AddSymbols(TypeRef type, const Source& source, const std::vector<FreshSymbol>& fresh) {
  // What a part of a node brought into being is read of the node when it is there: the part may lie in a region that ends with it.
  const auto add = [&](const FreshSymbol& symbol) {
    const auto [at, is_new] = symbols_.try_emplace(symbol.symbol, SymbolSource{source, type, symbol});
    if (!is_new && at->second.source.is_part && !source.is_part) at->second = {source, type, symbol};
  };
  for (const FreshSymbol& symbol : fresh) add(symbol);
  if (type->kind != TypeKind::kTensor) return;
  for (uint32_t axis = 0; axis < type->dims.size(); ++axis) {
    const std::optional<Dim::Linear> linear = type->dims[axis].AsLinear();
    if (!linear || linear->symbol == kAnySymbol) continue;  // each `_` is another
    add({.symbol = linear->symbol, .path = {}, .axis = axis, .mul = linear->mul, .add = linear->add});
  }
}

void Values::AddSymbolsOf(const Stmt& stmt) {
  AddSymbols(stmt.value->type, {.local = stmt.local}, stmt.value->fresh);
  AddSymbols(workflow_.locals[stmt.local].type, {.local = stmt.local}, {});
}

void Values::AddSymbolsOfParameters() {
  for (FreshSymbol fresh : workflow_.param_symbols) {
    const LocalId local = workflow_.params[fresh.path[0]].local;
    fresh.path.erase(fresh.path.begin());
    symbols_[fresh.symbol] = {{.local = local}, workflow_.locals[local].type, fresh};
  }
}

std::optional<SlotId> Values::PlainSlot(const Expr& expr) const {
  if (expr.kind != ExprKind::kLocal || !expr.checks.empty()) return {};
  const auto slot = slots_.find(expr.local);
  return slot == slots_.end() ? std::nullopt : std::optional(slot->second);
}

// ---- tasks ----

ir::Body Values::Write(ir::Task& task, const WriteBody& write) {
  ir::Body body;
  BodyWriter writer(c_, body, this);
  writer.builder().set_place({out_[task.node].line, {}});
  const ValueId result = write(writer);
  writer.builder().Close(result);
  body.divisor_first = ir::IsDivisorFirst(body);
  for (const ValueId id : body.blocks[0].ops) {
    if (body[id].kind == OpKind::kSlot) task.in.push_back(SlotId{static_cast<uint32_t>(body[id].imm)});  // each once
  }
  return body;
}

// It stands where its condition does.
std::optional<TaskId> Values::WritePick(ir::Task& task, const WriteBody& write) {
  ir::Task run = tasks_.NewTask(TaskKind::kRun);
  run.body = Write(run, write);
  if (run.body.blocks[0].result != ValueId::kNone && IsShort(run.body)) {
    task.in.insert(task.in.end(), run.in.begin(), run.in.end());
    task.body = std::move(run.body);
    return {};
  }
  const auto has_line = [](const ir::Op& op) { return op.place.line != 0; };
  const auto first = std::find_if(run.body.ops.begin(), run.body.ops.end(), has_line);
  const ir::Place place = first == run.body.ops.end() ? ir::Place{} : first->place;
  const SlotId arm = run.out = tasks_.AddSlot(run.region, "condition", out_.types.Scalar(DType::kI64));
  const TaskId id = tasks_.AddTask(std::move(run));
  task.body = Write(task, [&](BodyWriter& writer) {
    if (place.line != 0) writer.builder().set_place(place);
    return writer.builder().Slot(arm);
  });
  return id;
}

SlotId Values::AddRun(const std::string& name, const WriteBody& write, ir::TypeId type, ir::Store store) {
  ir::Task task = tasks_.NewTask(TaskKind::kRun);
  task.body = Write(task, write);
  const ValueId result = task.body.blocks[0].result;
  if (result != ValueId::kNone) type = task.body[result].type;
  if (type == ir::TypeId::kNone) type = out_.types.Scalar(DType::kBool);  // of a node that only fails
  return tasks_.AddTask(std::move(task), name, type, store);
}

SlotId Values::AddFailing(const std::string& name, ir::TypeId type, const Expr* expr) {
  const auto write = [&](BodyWriter& writer) {
    if (expr != nullptr) writer.Write(*expr);
    ir::Builder& b = writer.builder();
    const ir::BlockId message = b.Open({});
    b.Close(b.Text("it only fails"));
    b.FailIf(b.Bool(true), code::kInference, message);
    return ValueId::kNone;
  };
  return AddRun(name, write, type);
}

ir::TypeId Values::TypeOf(TypeRef type) {
  ir::Body scratch;
  return BodyWriter(c_, scratch, this).TypeOf(type);
}

ir::TypeId Values::DeclaredType(TypeRef type) {
  if (type->kind == TypeKind::kNever || type->kind == TypeKind::kNone) return ir::TypeId::kNone;
  ir::Body scratch;
  return BodyWriter(c_, scratch, nullptr).TypeOf(type);
}

// ---- Outer ----

ValueId Values::Read(BodyWriter& writer, LocalId local) {
  if (const auto slot = slots_.find(local); slot != slots_.end()) return writer.builder().Slot(slot->second);
  if (const auto element = elements_.find(local); element != elements_.end()) return ReadElement(writer, local, element->second);
  const auto let = lets_.find(local);
  WF_CHECK(let != lets_.end(), workflow_.locals[local].name);
  being_written_.push_back(local);
  const ValueId value = writer.Write(*let->second);
  being_written_.pop_back();
  return value;
}

// Written where it is read; regions inside the element's own have no position, so there it is in a slot.
ValueId Values::ReadElement(BodyWriter& writer, LocalId local, const Element& element) {
  const auto write = [&](BodyWriter& in) {
    ir::Builder& b = in.builder();
    const ValueId position = b.Emit(OpKind::kElement, b.ScalarType(DType::kI64));
    return element.source == SlotId::kNone ? position : in.ElementOf(b.Slot(element.source), position);
  };
  if (tasks_.region() == element.region) return write(writer);
  const TaskWriter::Inside inside(tasks_, element.region);
  const SlotId slot = AddRun(workflow_.locals[local].name, write);
  SetSlot(local, slot);
  return writer.builder().Slot(slot);
}

std::optional<ValueId> Values::Symbol(BodyWriter& writer, const std::string& symbol) {
  const auto found = symbols_.find(symbol);
  if (found == symbols_.end()) return {};
  const SymbolSource& at = found->second;
  if (at.source.local && std::find(being_written_.begin(), being_written_.end(), *at.source.local) != being_written_.end()) return {};
  if (!at.source.local && !tasks_.IsInside(tasks_.region(), out_[at.source.slot].region)) return {};
  return writer.AtRoot([&] {
    const ValueId value = at.source.local ? writer.ReadOuter(*at.source.local) : writer.builder().Slot(at.source.slot);
    return writer.SolveAt(value, at.type, at.fresh);
  });
}

// The parameters of a request are there before any task.
bool Values::IsAtHand(const ir::Builder& body, const std::string& symbol) const {
  const auto found = symbols_.find(symbol);
  if (found == symbols_.end()) return false;
  const Source& source = found->second.source;
  if (!source.local) return body.Reads(source.slot);
  const auto is_it = [&](const Param& param) { return param.local == *source.local; };
  if (!is_inlined_ && std::any_of(workflow_.params.begin(), workflow_.params.end(), is_it)) return true;
  const auto slot = slots_.find(*source.local);
  return slot != slots_.end() && body.Reads(slot->second);
}

std::optional<SlotId> Values::CutSlot(const Expr& expr) const {
  const auto found = cut_.find(&expr);
  return found == cut_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace wf::sema
