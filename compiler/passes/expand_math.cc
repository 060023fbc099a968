#include "compiler/ir/math.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace wf::passes {
namespace {

class ExpandBody : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  ValueId Visit(ValueId id, const ir::Op& op) override {
    if (!ir::IsMath(op.kind)) return Copy(id);
    return ir::EmitMath(b_, op.kind, Mapped(op.args[0]), op.args.size() > 1 ? Mapped(op.args[1]) : ValueId::kNone);
  }
};

}  // namespace

void ExpandMath(ir::Program& program) {
  RewriteBodies(program, [&](const ir::Body& body) { return ExpandBody(program, body).Run(); });
}

}  // namespace wf::passes
