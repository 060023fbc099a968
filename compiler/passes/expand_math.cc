#include "compiler/ir/math.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

class MathExpander : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  ir::ValueId Rewrite(ir::ValueId id, const ir::Op& op) override {
    if (!ir::IsMath(op.kind)) return Copy(id, op);
    return ir::EmitMath(b_, op.kind, Mapped(op.args[0]), op.args.size() > 1 ? Mapped(op.args[1]) : ir::ValueId::kNone);
  }
};

}  // namespace

void ExpandMath(ir::Program& program) { RewriteBodies<MathExpander>(program); }

}  // namespace wf::passes
