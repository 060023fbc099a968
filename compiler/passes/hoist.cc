// Loop-invariant code motion: an operation without effects moves to the block where its last argument is known. Division is safe to move:
// its divisor went through a check that stays where it is.

#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace wf::passes {
namespace {

// Reads all that `id` needs from outside: arguments, and what its blocks read.
bool ReadsOnlyArguments(const ir::Op& op) { return op.blocks.empty(); }

bool MayMove(const ir::Op& op) {
  if (op.kind == OpKind::kLoad || op.kind == OpKind::kDim || op.kind == OpKind::kField) return true;
  return op.kind >= OpKind::kAdd && op.kind <= OpKind::kConvert && ReadsOnlyArguments(op);
}

class HoistBody : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  ValueId Visit(ValueId id, const ir::Op& op) override {
    if (IsLoop(op.kind)) {
      loop_depths_.push_back(b_.depth() + 1);
      const ValueId copy = Copy(id);
      loop_depths_.pop_back();
      return copy;
    }
    if (!MayMove(op) || loop_depths_.empty()) return Copy(id);
    size_t depth = 0;
    for (const ValueId arg : op.args) depth = std::max(depth, b_.DepthOf(Mapped(arg)));
    const size_t target = TargetDepth(depth);
    if (target >= b_.depth()) return Copy(id);
    const auto left = b_.Leave(target);
    const ValueId copy = Copy(id);
    b_.Return(left);
    return copy;
  }

 private:
  // Out of every loop that does not define an argument, but never out of an arm of an `if` within such a loop's surroundings: an arm not
  // taken must stay cheap. The block just outside the outermost loop that can be left, counted from the inside without crossing an arm.
  size_t TargetDepth(size_t needed) const {
    size_t target = b_.depth();
    for (auto loop = loop_depths_.rbegin(); loop != loop_depths_.rend() && *loop == target && *loop > needed; ++loop) target = *loop - 1;
    return target;
  }

  std::vector<size_t> loop_depths_;  // of the blocks of the loops that are open, outermost first
};

}  // namespace

void Hoist(ir::Program& program) {
  RewriteBodies(program, [&](const ir::Body& body) { return HoistBody(program, body).Run(); });
}

}  // namespace wf::passes
