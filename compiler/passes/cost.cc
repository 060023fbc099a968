// Priors of time per task, in nanoseconds of one core. They only choose between loop and pool until measurement has corrected them.

#include <algorithm>

#include "compiler/ir/costs.h"
#include "compiler/ir/varying.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {

using ir::BlockId;
using ir::OpKind;
using ir::ValueId;

namespace {

constexpr float kScalarNs = 0.5f, kVectorNs = 0.05f, kScatteredNs = 0.5f, kMathNs = 1.5f, kAllocateNs = 20, kTextNs = 80, kTaskNs = 20;
constexpr float kLanes = 16;              // elements of a row that are computed at once
constexpr float kUnitsAssumed = 100'000;  // of a task whose extents are open, where only the class is wanted

struct Cost {
  float fixed = 0, per_unit = 0;
  Cost& operator+=(const Cost& other) {
    fixed += other.fixed;
    per_unit += other.per_unit;
    return *this;
  }
};

class BodyCost {
 public:
  BodyCost(const ir::Program& program, const ir::Body& body) : program_(program), body_(body) {}
  Cost OfBlock(BlockId block, bool in_tensor_loop) const {
    Cost cost;
    for (const ValueId id : body_[block].ops) cost += OfOp(body_[id], in_tensor_loop);
    return cost;
  }

 private:
  Cost OfOp(const ir::Op& op, bool in_tensor_loop) const {
    if (IsLoop(op.kind)) return OfLoop(op);
    if (!op.blocks.empty()) {
      Cost arms;
      for (const BlockId block : op.blocks) arms += OfBlock(block, in_tensor_loop);
      return arms;
    }
    if (op.kind == OpKind::kNative) return OfCall(op);
    if (op.kind == OpKind::kText) return {kTextNs, HasString(op) ? ir::kTextNsPerByte : 0};
    if (op.kind == OpKind::kMeta || op.kind == OpKind::kAnnotate) return {kTextNs, 0};
    if (op.kind == OpKind::kTensorOfList || op.kind == OpKind::kListOfTensor || op.kind == OpKind::kListMake)
      return {kAllocateNs, kScalarNs};
    if (op.kind >= OpKind::kExp && op.kind <= OpKind::kPow) return {kMathNs, 0};
    if (in_tensor_loop && op.kind == OpKind::kLoad &&
        !std::all_of(op.args.begin() + 1, op.args.end(), [&](ValueId at) { return IsNear(at); }))
      return {kScatteredNs, 0};
    return {in_tensor_loop ? kVectorNs : kScalarNs, 0};
  }

  bool HasString(const ir::Op& op) const {
    return std::any_of(op.args.begin(), op.args.end(),
                       [this](ValueId arg) { return program_.types[body_[arg].type].kind == ir::TypeKind::kString; });
  }

  // The unit of a native is a byte of its first argument, whose number may be known; and so may that of its result.
  Cost OfCall(const ir::Op& op) const {
    const ir::NativeCost cost = ir::CostOfNative(program_.natives[op.imm]);
    const float result = std::max(BytesOf(op.type), 0.0F), argument = op.args.empty() ? -1 : BytesOf(body_[op.args[0]].type);
    const float known = cost.ns_per_unit * std::max(argument, result);
    const bool is_open = argument < 0 || (BytesOf(op.type) < 0 && !ir::TurnsOfNative(program_.natives[op.imm]).empty());
    return {cost.ns + known, is_open ? cost.ns_per_unit : 0};
  }

  // Below 0: not known.
  float BytesOf(ir::TypeId id) const {
    const ir::Type& type = program_.types[id];
    if (type.kind != ir::TypeKind::kTensor) return -1;
    auto bytes = static_cast<float>(ir::SizeOf(type.dtype));
    for (const int64_t dim : type.dims) {
      if (dim < 0) return -1;
      bytes *= static_cast<float>(dim);
    }
    return bytes;
  }

  // Loops of open extents count per unit: lower/work.h says what that is.
  Cost OfLoop(const ir::Op& op) const {
    Cost inner{IsTensorLoop(op.kind) ? kVectorNs : kScalarNs, 0};  // the turn itself
    for (const BlockId block : op.blocks) inner += OfTurn(op, block);
    float known = 1;
    bool is_open = false;
    for (size_t i = 0; i < (op.kind == OpKind::kBuild ? op.args.size() : 1); ++i) {
      const ir::Op& extent = body_[op.args[i]];
      if (extent.kind == OpKind::kScalar)
        known *= static_cast<float>(extent.imm);
      else
        is_open = true;
    }
    Cost cost{op.kind == OpKind::kReduce || op.kind == OpKind::kFold ? 0 : kAllocateNs, 0};
    if (is_open)
      cost.per_unit = (inner.fixed + inner.per_unit) * known;
    else
      cost += {inner.fixed * known, inner.per_unit * known};
    return cost;
  }

  // Loops in a row of floats that are the same for all of its elements run once for as many as are computed at once.
  Cost OfTurn(const ir::Op& loop, BlockId block) const {
    const bool is_row = loop.kind == OpKind::kBuild && loop.args.size() > 1 && ir::IsFloat(program_.types[loop.type].dtype);
    if (!is_row) return OfBlock(block, IsTensorLoop(loop.kind));
    const std::set<ValueId> varying = ir::FindVarying(body_, block, body_[block].params.back());
    const ir::Op& extent = body_[loop.args.back()];
    const bool is_known = extent.kind == OpKind::kScalar;  // else the units say it
    const float at_once = is_known ? std::clamp(static_cast<float>(extent.imm), 1.0F, kLanes) : kLanes;
    Cost cost;
    for (const ValueId id : body_[block].ops) {
      Cost own = OfOp(body_[id], true);
      if (IsLoop(body_[id].kind) && !varying.contains(id)) own = {own.fixed / at_once, is_known ? own.per_unit / at_once : own.per_unit};
      cost += own;
    }
    return cost;
  }

  // Sums and products of indices: neighbours in a loop are neighbours in memory, or a stride apart.
  bool IsNear(ValueId index, int steps = 8) const {
    const ir::Op& op = body_[index];
    if (op.kind == OpKind::kAdd || op.kind == OpKind::kSub || op.kind == OpKind::kMul)
      return steps > 0 && IsNear(op.args[0], steps - 1) && IsNear(op.args[1], steps - 1);
    if (op.kind == OpKind::kCheckIndex) return steps > 0 && IsNear(op.args[0], steps - 1);
    return op.kind == OpKind::kParam || op.kind == OpKind::kScalar || op.kind == OpKind::kDim || op.kind == OpKind::kSlot;
  }

  const ir::Program& program_;
  const ir::Body& body_;
};

}  // namespace

void EstimateCost(ir::Program& program) {
  for (ir::Task& task : program.tasks) {
    if (task.body.empty()) continue;
    const Cost cost = BodyCost(program, task.body).OfBlock(BlockId{0}, false);
    task.cost_ns = kTaskNs + cost.fixed;
    task.cost_ns_per_unit = cost.per_unit;
    task.compute = task.cost_ns + kUnitsAssumed * task.cost_ns_per_unit > ir::kComputeNs;
  }
}

}  // namespace wf::passes
