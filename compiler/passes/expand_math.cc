#include <map>

#include "compiler/ir/math.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

// Operations written for all of a program. What is inlined is compiled once for each place, CPU and end of a row.
constexpr size_t kMostInlined = 128;

class MathExpander : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  ir::ValueId Rewrite(ir::ValueId id, const ir::Op& op) override {
    if (!ir::IsMath(op.kind)) return Copy(id, op);
    return ir::EmitMath(b_, op.kind, Mapped(op.args[0]), op.args.size() > 1 ? Mapped(op.args[1]) : ir::ValueId::kNone);
  }
};

// Operations that inlining would write.
class Sizes {
 public:
  size_t Of(const ir::Program& program) {
    size_t all = 0;
    for (const ir::Task& task : program.tasks) {
      for (const ir::Op& op : task.body.ops) {
        if (ir::IsMath(op.kind)) all += Of(op.kind, program.types[op.type].dtype);
      }
    }
    return all;
  }

 private:
  size_t Of(ir::OpKind kind, ir::DType dtype) {
    const auto [at, is_new] = known_.try_emplace({kind, dtype});
    if (!is_new) return at->second;
    ir::Program program;
    ir::Body body;
    ir::Builder b(program, body);
    const ir::BlockId block = b.Open({program.types.Scalar(dtype), program.types.Scalar(dtype)});
    b.Close(ir::EmitMath(b, kind, b.Param(0), b.Param(1)));
    return at->second = body[block].ops.size();
  }

  std::map<std::pair<ir::OpKind, ir::DType>, size_t> known_;
};

}  // namespace

void ExpandMath(ir::Program& program) {
  if (Sizes().Of(program) <= kMostInlined) RewriteBodies<MathExpander>(program);
}

}  // namespace wf::passes
