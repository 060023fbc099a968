// Priors of time per task, in nanoseconds of one core. They only choose between loop and pool until measurement has corrected them.

#include <algorithm>
#include <string_view>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {

using ir::BlockId;
using ir::OpKind;
using ir::ValueId;

namespace {

constexpr float kScalarNs = 0.5f, kVectorNs = 0.12f, kMathNs = 1.5f, kAllocateNs = 20, kTextNs = 80, kTaskNs = 20;
constexpr float kComputeNs = 100'000;     // above this a task goes to the pool
constexpr float kUnitsAssumed = 100'000;  // of a task whose extents are open, where only the class is wanted

struct Cost {
  float fixed = 0, per_unit = 0;
  Cost& operator+=(const Cost& other) {
    fixed += other.fixed;
    per_unit += other.per_unit;
    return *this;
  }
};

Cost OfNative(std::string_view symbol) {
  struct Row {
    std::string_view name;
    float cost_ns, cost_ns_per_unit;
  };
  static constexpr Row kRows[] = {
#define NATIVE(name, arguments, cost_ns, cost_ns_per_unit) {#name, cost_ns, cost_ns_per_unit},
#include "runtime/abi/runtime_symbols.def"
  };
  for (const Row& row : kRows) {
    if (row.name == symbol) return {row.cost_ns, row.cost_ns_per_unit};
  }
  return {kComputeNs, 0};
}

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
    if (op.kind == OpKind::kText || op.kind == OpKind::kMeta || op.kind == OpKind::kAnnotate) return {kTextNs, 0};
    if (op.kind == OpKind::kTensorOfList || op.kind == OpKind::kListOfTensor || op.kind == OpKind::kListMake)
      return {kAllocateNs, kScalarNs};
    if (op.kind >= OpKind::kExp && op.kind <= OpKind::kPow) return {kMathNs, 0};
    return {in_tensor_loop ? kVectorNs : kScalarNs, 0};
  }

  // The unit of a native is a byte of its first argument, whose number may be known.
  Cost OfCall(const ir::Op& op) const {
    const Cost cost = OfNative(program_.natives[op.imm]);
    if (op.args.empty()) return cost;
    const ir::Type& type = program_.types[body_[op.args[0]].type];
    if (type.kind != ir::TypeKind::kTensor) return cost;
    auto bytes = static_cast<float>(ir::SizeOf(type.dtype));
    for (const int64_t dim : type.dims) {
      if (dim < 0) return cost;
      bytes *= static_cast<float>(dim);
    }
    return {cost.fixed + cost.per_unit * bytes, 0};
  }

  // Loops of open extents count per unit: lower/work.h says what that is.
  Cost OfLoop(const ir::Op& op) const {
    Cost inner{IsTensorLoop(op.kind) ? kVectorNs : kScalarNs, 0};  // the turn itself
    for (const BlockId block : op.blocks) inner += OfBlock(block, IsTensorLoop(op.kind));
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
    task.compute = task.cost_ns + kUnitsAssumed * task.cost_ns_per_unit > kComputeNs;
  }
}

}  // namespace wf::passes
