#include <algorithm>
#include <string_view>

#include "compiler/ir/math.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr double kComputeNs = 100'000;  // runtime.md 1: above, a task is worth a hop to the pool
constexpr double kUsualUnits = 65'536;  // units of work of a call whose size is not known: a picture of 256 x 256

struct NativeCost {
  std::string_view name;
  double ns, ns_per_unit;
};
constexpr NativeCost kNatives[] = {
#define NATIVE(name, arguments, cost_ns, cost_ns_per_unit) {#name, cost_ns, cost_ns_per_unit},
#include "runtime/abi/runtime_symbols.def"
};

struct Cost {
  double ns = 0, per_unit = 0;  // a unit is one element, byte or item of the largest input whose size is not known
};

// Priors, measured on no machine in particular: the runtime corrects them.
double OperationNs(OpKind kind) {
  if (ir::IsMath(kind)) return 4;
  switch (kind) {
    case OpKind::kParam:
    case OpKind::kScalar:
    case OpKind::kConstant:
    case OpKind::kSlot:
      return 0;
    case OpKind::kDiv:
    case OpKind::kRem:
    case OpKind::kSqrt:
      return 1;
    case OpKind::kText:
      return 80;
    case OpKind::kStringFromBytes:
    case OpKind::kMapGet:
    case OpKind::kMapKeys:
    case OpKind::kAnnotate:
    case OpKind::kMeta:
      return 50;
    case OpKind::kBuild:
    case OpKind::kListBuild:
    case OpKind::kListFilter:
    case OpKind::kListMake:
    case OpKind::kListOfTensor:
    case OpKind::kTensorOfList:
      return 30;
    default:
      return 0.3;
  }
}

class Estimator {
 public:
  Estimator(const ir::Program& program, const ir::Body& body) : program_(program), body_(body) {}

  Cost OfBlock(ir::BlockId block) const {
    Cost sum;
    for (const ValueId id : body_[block].ops) {
      const Cost cost = OfOp(body_[id]);
      sum.ns += cost.ns;
      sum.per_unit += cost.per_unit;
    }
    return sum;
  }

 private:
  Cost OfOp(const ir::Op& op) const {
    Cost cost{OperationNs(op.kind), 0};
    switch (op.kind) {
      case OpKind::kBuild:
      case OpKind::kReduce:
      case OpKind::kFold:
      case OpKind::kListBuild:
      case OpKind::kListFilter:
        return Loop(op, cost);
      case OpKind::kIf: {
        const Cost a = OfBlock(op.blocks[0]), b = OfBlock(op.blocks[1]);
        return {cost.ns + std::max(a.ns, b.ns), std::max(a.per_unit, b.per_unit)};
      }
      case OpKind::kStringFromBytes:
      case OpKind::kListOfTensor:
      case OpKind::kTensorOfList:
        cost.per_unit = 1;
        return cost;
      case OpKind::kNative:
        for (const NativeCost& native : kNatives) {
          if (native.name == program_.natives[op.imm]) return {native.ns, native.ns_per_unit};
        }
        return {1000, 1};
      default:
        return cost;  // of fail_if: its message is written once, and then time does not matter
    }
  }

  // Extents that are not constant count as units, all of one loop together as one.
  Cost Loop(const ir::Op& op, const Cost& own) const {
    double times = 1;
    bool is_open = false;
    const size_t counters = op.kind == OpKind::kBuild ? op.args.size() : 1;
    for (size_t i = 0; i < counters; ++i) {
      const ir::Op& extent = body_[op.args[i]];
      if (extent.kind == OpKind::kScalar) {
        times *= static_cast<double>(extent.imm);
      } else {
        is_open = true;
      }
    }
    Cost each;
    for (const ir::BlockId block : op.blocks) {
      const Cost cost = OfBlock(block);
      each.ns += cost.ns;
      each.per_unit += cost.per_unit;
    }
    if (is_open) return {own.ns, times * (each.ns + each.per_unit)};
    return {own.ns + times * each.ns, times * each.per_unit};
  }

  const ir::Program& program_;
  const ir::Body& body_;
};

}  // namespace

void EstimateCosts(ir::Program& program) {
  for (ir::Task& task : program.tasks) {
    if (task.body.empty()) continue;
    const Cost cost = Estimator(program, task.body).OfBlock(ir::BlockId{0});
    task.cost_ns = static_cast<float>(20 + cost.ns);
    task.cost_ns_per_unit = static_cast<float>(cost.per_unit);
    task.compute = task.kind == ir::TaskKind::kRun && task.cost_ns + task.cost_ns_per_unit * kUsualUnits > kComputeNs;
  }
}

}  // namespace wf::passes
