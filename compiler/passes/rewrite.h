#pragma once

#include <vector>

#include "compiler/ir/builder.h"

namespace wf::passes {

// Copies a body, operation by operation, through a builder, which folds what has become constant. Passes override Rewrite.
// Thread: loop-confined.   Borrows: program; the old body (until Run returns).
class Rewriter {
 public:
  Rewriter(ir::Program& program, const ir::Body& old) : b_(program, new_), old_(old), map_(old.ops.size(), ir::ValueId::kNone) {}
  virtual ~Rewriter() = default;
  ir::Body Run(ir::TypeId result);  // `result`: of the slot that the body's goes to; kNone: it has none

 protected:
  // The new value of one old operation; kNone where it has none or is dropped. Emits into the open block.
  virtual ir::ValueId Rewrite(ir::ValueId id, const ir::Op& op) { return Copy(id, op); }
  ir::ValueId Copy(ir::ValueId id, const ir::Op& op);

  ir::ValueId Mapped(ir::ValueId old) const { return map_[static_cast<size_t>(old)]; }
  void Map(ir::ValueId old, ir::ValueId value) { map_[static_cast<size_t>(old)] = value; }
  std::vector<ir::ValueId> Mapped(const std::vector<ir::ValueId>& old) const;
  // The operations of an old block into the open block, its parameters standing for `args`; the new value of its result. What stands behind
  // a failure that is certain never runs: a zero of the type that is `wanted`, else of the result's, is the result then.
  ir::ValueId Inline(ir::BlockId old, const std::vector<ir::ValueId>& args, ir::TypeId wanted = ir::TypeId::kNone);
  ir::BlockId CloneBlock(ir::BlockId old, const ir::Op& owner, const std::vector<ir::ValueId>& owner_args);
  // A block of `owner` was opened; `owner_args`: its new arguments.
  virtual void Opened(ir::OpKind, const std::vector<ir::ValueId>&, const std::vector<ir::ValueId>&) {}
  ir::OpKind OwnerAt(size_t depth) const { return owners_[depth]; }  // of the open block at this depth

  ir::Body new_;
  ir::Builder b_;
  const ir::Body& old_;

 private:
  ir::ValueId CopyScalar(const ir::Op& op);
  ir::ValueId CopyIf(const ir::Op& op);
  ir::ValueId CopyGeneric(const ir::Op& op);

  std::vector<ir::ValueId> map_;
  std::vector<ir::OpKind> owners_{ir::OpKind::kParam};
};

// Replaces the bodies of all tasks by Pass(program, body).Run().
template <typename Pass>
void RewriteBodies(ir::Program& program) {
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    if (program.tasks[i].body.empty()) continue;
    const ir::SlotId out = program.tasks[i].out;
    ir::Body body = Pass(program, program.tasks[i].body).Run(out == ir::SlotId::kNone ? ir::TypeId::kNone : program[out].type);
    program.tasks[i].body = std::move(body);
  }
}

bool IsTensorLoop(ir::OpKind kind);  // build, reduce
bool IsLoop(ir::OpKind kind);        // those, fold, list_build, list_filter: the blocks run once per element
// Has no effect and no failure, and gives the same value wherever it stands; blocks not looked into.
bool IsPure(ir::OpKind kind);
bool IsSticky(ir::OpKind kind);     // may set a sticky failure and does nothing else
bool TestsSticky(ir::OpKind kind);  // an effect: outside of tensor blocks it tests sticky failures first
// The operation and everything inside its blocks.
bool IsPureDeep(const ir::Body& body, const ir::Op& op, bool may_be_sticky);

}  // namespace wf::passes
