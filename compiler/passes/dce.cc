#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"

namespace wf::passes {
namespace {

using ir::OpKind;
using ir::ValueId;

class DeadRemover : public Rewriter {
 public:
  DeadRemover(ir::Program& program, const ir::Body& old) : Rewriter(program, old), live_(old.ops.size()) { MarkBlock(ir::BlockId{0}); }

 private:
  void MarkBlock(ir::BlockId block) {
    if (old_[block].result != ValueId::kNone) Mark(old_[block].result);
    for (const ValueId id : old_[block].ops) {
      if (!IsPureDeep(old_, old_[id], false)) Mark(id);
    }
  }
  void Mark(ValueId first) {
    std::vector<ValueId> pending{first};
    while (!pending.empty()) {
      const ValueId id = pending.back();
      pending.pop_back();
      if (live_[static_cast<size_t>(id)]) continue;
      live_[static_cast<size_t>(id)] = true;
      pending.insert(pending.end(), old_[id].args.begin(), old_[id].args.end());
      for (const ir::BlockId block : old_[id].blocks) MarkBlock(block);
    }
  }

  ValueId Rewrite(ValueId id, const ir::Op& op) override { return live_[static_cast<size_t>(id)] ? Copy(id, op) : ValueId::kNone; }

  std::vector<bool> live_;
};

}  // namespace

void RemoveDead(ir::Program& program) { RewriteBodies<DeadRemover>(program); }

}  // namespace wf::passes
