// Fusion by inlining: a build's block is copied to the place that loads the element, and the tensor in between is never made. Done where no
// element is computed more often than before, or where computing it again is cheaper than storing and loading it.

#include <algorithm>
#include <optional>

#include "compiler/passes/passes.h"
#include "compiler/passes/rewriter.h"

namespace wf::passes {
namespace {

constexpr size_t kCheapOps = 12;   // a block of at most this many plain operations is computed again rather than stored
constexpr size_t kCheapLoads = 8;  // .. at this many places

// One operation's place: the loops around it, outermost first, with their position parameters.
struct Loads {
  size_t count = 0;
  bool other_uses = false;                 // read by something that is neither load nor dim
  std::vector<ValueId> indices;            // of the last load
  std::vector<ValueId> positions_between;  // loop positions between the build and that load
  bool in_sequential_loop = false;         // a fold or list loop stands between: elements may be read many times
};

// Gathers how each build is read.
class Uses {
 public:
  explicit Uses(const ir::Body& body) : body_(body), uses_(body.ops.size()), depth_of_(body.ops.size()) { Walk(BlockId{0}); }
  const Loads& Of(ValueId id) const { return uses_[static_cast<size_t>(id)]; }

 private:
  struct Loop {
    bool is_tensor;
    std::vector<ValueId> positions;
  };

  void Walk(BlockId block) {
    for (const ValueId id : body_[block].ops) {
      const ir::Op& op = body_[id];
      depth_of_[static_cast<size_t>(id)] = loops_.size();
      for (size_t i = 0; i < op.args.size(); ++i) Use(op, i);
      for (const BlockId inner : op.blocks) {
        const bool is_loop = IsLoop(op.kind);
        if (is_loop) loops_.push_back({IsTensorLoop(op.kind), body_[inner].params});
        Walk(inner);
        if (is_loop) loops_.pop_back();
      }
    }
    const ValueId result = body_[block].result;
    if (result != ValueId::kNone) uses_[static_cast<size_t>(result)].other_uses = true;
  }

  void Use(const ir::Op& op, size_t argument) {
    const auto read = static_cast<size_t>(op.args[argument]);
    Loads& loads = uses_[read];
    if (argument != 0 || (op.kind != OpKind::kLoad && op.kind != OpKind::kDim)) {
      loads.other_uses = true;
      return;
    }
    if (op.kind == OpKind::kDim) return;
    ++loads.count;
    loads.indices.assign(op.args.begin() + 1, op.args.end());
    loads.positions_between.clear();
    for (size_t i = depth_of_[read]; i < loops_.size(); ++i) {
      loads.in_sequential_loop |= !loops_[i].is_tensor;
      loads.positions_between.insert(loads.positions_between.end(), loops_[i].positions.begin(), loops_[i].positions.end());
    }
  }

  const ir::Body& body_;
  std::vector<Loads> uses_;
  std::vector<size_t> depth_of_;
  std::vector<Loop> loops_;
};

// Plain operations of a block; nothing when it loops or computes a transcendental, or may fail.
std::optional<size_t> PlainOps(const ir::Body& body, BlockId block) {
  size_t count = 0;
  for (const ValueId id : body[block].ops) {
    const ir::Op& op = body[id];
    if (!op.blocks.empty() || MayFail(op.kind)) return {};
    if (op.kind >= OpKind::kExp && op.kind <= OpKind::kPow) return {};
    count += op.kind != OpKind::kScalar;
  }
  return count;
}

class FuseBody : public Rewriter {
 public:
  FuseBody(ir::Program& program, const ir::Body& from) : Rewriter(program, from), uses_(from) {}

 protected:
  ValueId Visit(ValueId id, const ir::Op& op) override {
    if (op.kind == OpKind::kBuild && MayInline(id, op)) {
      inlined_.push_back(id);
      return ValueId::kNone;
    }
    if (op.kind == OpKind::kLoad && IsInlined(op.args[0])) {
      std::vector<ValueId> indices = MappedArgs(op);
      indices.erase(indices.begin());
      return InlineBlock(from_[op.args[0]].blocks[0], indices);
    }
    if (op.kind == OpKind::kDim && IsInlined(op.args[0])) return Mapped(from_[op.args[0]].args[op.imm]);
    return Copy(id);
  }

 private:
  bool IsInlined(ValueId id) const { return std::find(inlined_.begin(), inlined_.end(), id) != inlined_.end(); }

  bool MayInline(ValueId id, const ir::Op& op) const {
    const Loads& loads = uses_.Of(id);
    if (loads.other_uses || loads.count == 0 || HasEffects(from_, id)) return false;
    const auto plain = PlainOps(from_, op.blocks[0]);
    if (plain && *plain <= kCheapOps && loads.count <= kCheapLoads) return true;
    return loads.count == 1 && !loads.in_sequential_loop && ReadsEachOnce(loads);
  }

  // Every loop position between build and load is an index of the load by itself: different iterations read different elements.
  static bool ReadsEachOnce(const Loads& loads) {
    return std::all_of(loads.positions_between.begin(), loads.positions_between.end(), [&](ValueId position) {
      return std::find(loads.indices.begin(), loads.indices.end(), position) != loads.indices.end();
    });
  }

  Uses uses_;
  std::vector<ValueId> inlined_;
};

}  // namespace

void Fuse(ir::Program& program) {
  RewriteBodies(program, [&](const ir::Body& body) { return FuseBody(program, body).Run(); });
}

}  // namespace wf::passes
