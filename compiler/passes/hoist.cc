#include <algorithm>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

// Moves what does not change in a loop out of it: to the outermost block where everything it reads is there. Loops run only when they have
// elements and arms only when taken, so checks leave a loop only when its extents are constant and above 0, and nothing that loops leaves
// an arm. What stands below an effect in its block stays: a slice reads only where the `fail_if` above it let it.
class Hoister : public Rewriter {
 public:
  Hoister(ir::Program& program, const ir::Body& old) : Rewriter(program, old), is_local_(old.ops.size()) {}

 private:
  ValueId Rewrite(ValueId id, const ir::Op& op) override {
    const bool is_pure = IsPureDeep(old_, op, false);
    if (op.type == ir::TypeId::kNone || (!is_pure && !IsPureDeep(old_, op, true))) return CopyEffect(id, op);
    if (b_.depth() == 0) return Copy(id, op);
    size_t needed = 0;
    FindDepth(op, needed);
    size_t target = b_.depth();
    while (target > needed && MayLeave(op, target, is_pure)) --target;
    if (target == b_.depth()) return Copy(id, op);
    std::vector<ir::BlockId> left = b_.Leave(target);
    const std::vector<bool> outer_runs = always_runs_, outer_guarded = guarded_;
    const ValueId value = Copy(id, op);
    always_runs_ = outer_runs;
    guarded_ = outer_guarded;
    b_.Return(std::move(left));
    return value;
  }

  // What follows in its block may rely on its not having failed.
  ValueId CopyEffect(ValueId id, const ir::Op& op) {
    const ValueId value = Copy(id, op);
    guarded_.resize(std::max(guarded_.size(), b_.depth() + 1));
    guarded_[b_.depth()] = true;
    return value;
  }

  // The depth of the deepest value that the operation reads, inside its blocks too; values of those blocks themselves are not yet mapped.
  void FindDepth(const ir::Op& op, size_t& depth) {
    for (const ValueId arg : op.args) {
      if (!IsLocal(arg)) depth = std::max(depth, b_.DepthOf(Mapped(arg)));
    }
    for (const ir::BlockId block : op.blocks) {
      SetLocal(old_[block].params, true);
      for (const ValueId id : old_[block].ops) {
        FindDepth(old_[id], depth);
        is_local_[static_cast<size_t>(id)] = true;
      }
      const ValueId result = old_[block].result;
      if (result != ValueId::kNone && !IsLocal(result)) depth = std::max(depth, b_.DepthOf(Mapped(result)));
    }
    for (const ir::BlockId block : op.blocks) {
      SetLocal(old_[block].params, false);
      SetLocal(old_[block].ops, false);
    }
  }
  bool IsLocal(ValueId id) const { return is_local_[static_cast<size_t>(id)]; }
  void SetLocal(const std::vector<ValueId>& values, bool is_local) {
    for (const ValueId value : values) is_local_[static_cast<size_t>(value)] = is_local;
  }

  // Out of the open block at `depth`.
  bool MayLeave(const ir::Op& op, size_t depth, bool is_pure) {
    const OpKind owner = OwnerAt(depth);
    if (guarded_[depth] && !(is_pure && IsFree(op))) return false;
    if (owner == OpKind::kIf || owner == OpKind::kFailIf)
      return is_pure && op.blocks.empty() && ir::InfoOf(op.kind).arguments <= 3 && IsFree(op);
    if (owner == OpKind::kListFilter) return is_pure && op.blocks.empty();
    return is_pure || always_runs_[depth];
  }
  // Not worth a branch: scalar arithmetic.
  static bool IsFree(const ir::Op& op) { return op.kind >= OpKind::kAdd && op.kind <= OpKind::kConvert; }

  void Opened(OpKind, const std::vector<ValueId>& owner_args, const std::vector<ValueId>& params) override {
    bool runs = !params.empty();
    for (size_t i = 0; i < std::min(owner_args.size(), params.size()); ++i) {
      const ir::Op& extent = b_.body()[owner_args[i]];
      const bool is_counter = b_.Known(owner_args[i]).kind == ir::TypeKind::kScalar;
      runs = runs && (!is_counter || (extent.kind == OpKind::kScalar && extent.imm > 0));
    }
    always_runs_.resize(b_.depth() + 1);
    always_runs_[b_.depth()] = runs;
    guarded_.resize(b_.depth() + 1);
    guarded_[b_.depth()] = false;
  }

  std::vector<bool> is_local_;  // of a block that FindDepth is in
  std::vector<bool> always_runs_;
  std::vector<bool> guarded_;  // by depth: something in the open block may have failed
};

}  // namespace

void Hoist(ir::Program& program) { RewriteBodies<Hoister>(program); }

}  // namespace wf::passes
