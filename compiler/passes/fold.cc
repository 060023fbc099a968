// Copying through the builder folds scalars and extents; this adds what needs the structure: decided branches and checks that cannot fail.

#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace wf::passes {
namespace {

class FoldBody : public Rewriter {
 public:
  using Rewriter::Rewriter;

 protected:
  ValueId Visit(ValueId id, const ir::Op& op) override {
    switch (op.kind) {
      case OpKind::kIf: {
        const ValueId condition = Mapped(op.args[0]);
        if (!b_.IsConstant(condition)) return Copy(id);
        return CopyBlock(op.blocks[b_.IsConstant(condition, 0) ? 1 : 0]);
      }
      case OpKind::kFailIf:
        return b_.IsConstant(Mapped(op.args[0]), 0) ? ValueId::kNone : Copy(id);
      case OpKind::kStickyIf:
        b_.StickyIf(Mapped(op.args[0]), static_cast<int32_t>(op.imm));
        return ValueId::kNone;
      case OpKind::kCheckDivisor: {
        const ValueId divisor = Mapped(op.args[0]);
        return b_.IsConstant(divisor) && !b_.IsConstant(divisor, 0) ? divisor : Copy(id);
      }
      case OpKind::kHas:
      case OpKind::kUnwrap:
        return OfKnownOptional(id, op);
      case OpKind::kListLen: {
        const ir::Op& list = to_[Mapped(op.args[0])];
        return list.kind == OpKind::kListMake ? b_.I64(static_cast<int64_t>(list.args.size())) : Copy(id);
      }
      default:
        return Copy(id);
    }
  }

 private:
  ValueId OfKnownOptional(ValueId id, const ir::Op& op) {
    const ir::Op& optional = to_[Mapped(op.args[0])];
    const bool is_has = op.kind == OpKind::kHas;
    if (optional.kind == OpKind::kSome) return is_has ? b_.Bool(true) : optional.args[0];
    if (optional.kind == OpKind::kNone && is_has) return b_.Bool(false);
    return Copy(id);
  }
};

}  // namespace

void Fold(ir::Program& program) {
  RewriteBodies(program, [&](const ir::Body& body) { return FoldBody(program, body).Run(); });
}

}  // namespace wf::passes
