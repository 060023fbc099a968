#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace wf::passes {
namespace {

// Marks, from the results and effects backwards, the operations that are needed.
class Liveness {
 public:
  explicit Liveness(const ir::Body& body) : body_(body), live_(body.ops.size()) { MarkBlock(BlockId{0}); }
  bool IsLive(ValueId id) const { return live_[static_cast<size_t>(id)]; }

 private:
  void MarkBlock(BlockId block) {
    if (body_[block].result != ValueId::kNone) Mark(body_[block].result);
    for (const ValueId id : body_[block].ops) {
      if (HasEffects(body_, id)) Mark(id);
    }
  }
  void Mark(ValueId root) {
    std::vector<ValueId> work{root};
    while (!work.empty()) {
      const ValueId id = work.back();
      work.pop_back();
      if (live_[static_cast<size_t>(id)]) continue;
      live_[static_cast<size_t>(id)] = true;
      const ir::Op& op = body_[id];
      work.insert(work.end(), op.args.begin(), op.args.end());
      for (const BlockId block : op.blocks) MarkBlock(block);  // depth: the nesting of blocks, bounded by the parser
    }
  }

  const ir::Body& body_;
  std::vector<bool> live_;
};

class LiveBody : public Rewriter {
 public:
  LiveBody(ir::Program& program, const ir::Body& from) : Rewriter(program, from), liveness_(from) {}

 protected:
  ValueId Visit(ValueId id, const ir::Op&) override { return liveness_.IsLive(id) ? Copy(id) : ValueId::kNone; }

 private:
  Liveness liveness_;
};

}  // namespace

void RemoveDead(ir::Program& program) {
  RewriteBodies(program, [&](const ir::Body& body) { return LiveBody(program, body).Run(); });
}

}  // namespace wf::passes
