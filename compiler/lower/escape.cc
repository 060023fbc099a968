#include "compiler/lower/escape.h"

namespace wf::lower {
namespace {

using ir::OpKind;

// Uses that only look at the tensor while they run. A reshape is another name for it; what an extern returns may be.
bool OnlyLooks(const ir::Program& program, const ir::Op& op, size_t argument) {
  if (op.kind == OpKind::kLoad || op.kind == OpKind::kReshape) return argument == 0;
  if (op.kind == OpKind::kNative) return program.natives[op.imm].starts_with("wf_n_");
  return op.kind == OpKind::kDim || op.kind == OpKind::kText;
}

}  // namespace

std::vector<bool> FindLocalBuilds(const ir::Program& program, const ir::Body& body) {
  std::vector<bool> kept(body.ops.size());
  for (const ir::Block& block : body.blocks) {
    if (block.result != ir::ValueId::kNone) kept[static_cast<size_t>(block.result)] = true;
  }
  for (size_t i = body.ops.size(); i-- > 0;) {
    const ir::Op& op = body.ops[i];
    for (size_t k = 0; k < op.args.size(); ++k) {
      if (!OnlyLooks(program, op, k)) kept[static_cast<size_t>(op.args[k])] = true;
    }
  }
  // Values need not be numbered in the order of their uses, so what a kept reshape names is found by repeating.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < body.ops.size(); ++i) {
      if (body.ops[i].kind != OpKind::kReshape || !kept[i]) continue;
      const auto source = static_cast<size_t>(body.ops[i].args[0]);
      changed |= !kept[source];
      kept[source] = true;
    }
  }
  std::vector<bool> local(body.ops.size());
  for (size_t i = 0; i < body.ops.size(); ++i) local[i] = body.ops[i].kind == OpKind::kBuild && !kept[i];
  return local;
}

}  // namespace wf::lower
